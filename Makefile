# `make run` and `make test` need Python 3.11 or newer with venv, make and git; the rest comes from PyPI.

UV_VERSION := 0.13.9
VENV := .venv
BIN := $(VENV)/bin
UV := $(VENV)/.uv-$(UV_VERSION)
SYNCED := $(VENV)/.synced
PYTHONS := python3.14 python3.13 python3.12 python3.11 python3
# Three for two cores: what runs processes waits a good part of its time.
PYTEST_OPTIONS ?= -n 3 --dist loadfile
QUESTION ?= Can I get a refund on an annual plan?

# Whoever has another environment active means this one all the same.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME

.DELETE_ON_ERROR:
.PHONY: help run install test format lint types imports pytest soak bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s%s\n", $$1, $$2 }' Makefile

run: $(SYNCED) ## Start everything, answer one question, stay up until Ctrl-C
	@exec $(BIN)/groundwire up --docs examples/handbook --ask "$(QUESTION)"

install: $(SYNCED) ## Make .venv and install what uv.lock says

test: lint types imports pytest ## Run everything that CI runs

lint: $(SYNCED) ## Check format and lint rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(SYNCED) ## Check types
	$(BIN)/mypy

imports: $(SYNCED) ## Check who may import whom
	$(BIN)/lint-imports

pytest: $(SYNCED) ## Run the tests
	$(BIN)/pytest $(PYTEST_OPTIONS)

# Most of it is waiting, so more run at once than there are cores; stolen, not dealt: one takes ten minutes.
soak: $(SYNCED) ## Run the bus's tests at production's times (about 12 minutes)
	$(BIN)/pytest -m soak -n 3 --dist worksteal -rP --durations 0 --durations-min 5 tests/soak

format: $(SYNCED) ## Format the code, mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(SYNCED) ## Compare the bus with a bare redis-py loop
	$(BIN)/python -m benchmarks.hops

clean: ## Remove .venv, caches and build output; .groundwire, which holds data, stays
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(SYNCED): $(UV) pyproject.toml uv.lock
	@echo "installing what uv.lock says"
	@UV_PYTHON_DOWNLOADS=never $(BIN)/uv sync --quiet --frozen --compile-bytecode
	@touch $@

# A venv of this very folder is kept; `python -m pip` because a moved venv's pip has a stale first line.
$(UV):
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  $(find_python); \
	  echo "making $(VENV) with $$($$python --version)"; \
	  $$python -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }; \
	}
	@echo "installing uv $(UV_VERSION) into $(VENV)"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv==$(UV_VERSION)"
	@touch $@

# Sets `python` to the newest one that can make a venv, or says what to install.
define find_python
python=; old=; bare=; \
for candidate in $(PYTHON) $(PYTHONS); do \
  version=$$($$candidate -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
  if ! $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then old="$$old $$version"; \
  elif ! $$candidate -c 'import ensurepip, venv' 2>/dev/null; then bare=$$version; \
  else python=$$candidate; break; fi; \
done; \
if [ -z "$$python" ] && [ -n "$$bare" ]; then \
  echo "Python $$bare is here, but not its venv module. Install that and run make again:" >&2; \
  echo "    apt install python$$bare-venv    (or: apt install python3-venv)" >&2; \
  exit 1; \
elif [ -z "$$python" ]; then \
  echo "Groundwire needs Python 3.11 or newer; found:$${old:- none}. Install one and run make again:" >&2; \
  echo "    Debian, Ubuntu: apt install python3 python3-venv" >&2; \
  echo "    macOS:          brew install python" >&2; \
  echo "    elsewhere:      https://www.python.org/downloads/" >&2; \
  echo "One that isn't on PATH: make run PYTHON=/path/to/python3" >&2; \
  exit 1; \
fi
endef
