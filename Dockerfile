# syntax=docker/dockerfile:1
# One image for every worker and for the command line: `docker run groundwire worker retrieve`.

ARG PYTHON_VERSION=3.13

FROM python:${PYTHON_VERSION}-slim AS build
RUN pip install --no-cache-dir --disable-pip-version-check uv==0.13.9
WORKDIR /app
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never
# The dependencies are a layer of their own: it changes with uv.lock, not with the code.
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev --extra documents --no-install-project
COPY README.md CHANGELOG.md LICENSE ./
COPY agents agents
COPY bus bus
COPY contracts contracts
COPY groundwire groundwire
RUN uv sync --frozen --no-dev --extra documents --no-editable

FROM python:${PYTHON_VERSION}-slim
RUN useradd --system --uid 10001 --user-group --create-home groundwire \
    && install -d -o groundwire -g groundwire /corpus
COPY --from=build /app/.venv /app/.venv
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 GROUNDWIRE_CORPUS=/corpus
USER 10001:10001
WORKDIR /home/groundwire
# Right for any command; docker-compose.yml asks each worker for its own stage instead.
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s CMD ["groundwire", "doctor"]
ENTRYPOINT ["groundwire"]
CMD ["--help"]
