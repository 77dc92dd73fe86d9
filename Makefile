# Every target makes what it needs first. `make leaderboard` and `make test` work on a fresh machine.
PYTHON ?= python3
PORT ?= 7860
BIN := .venv/bin
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
export GRADIO_ANALYTICS_ENABLED := False
export HF_HUB_DISABLE_TELEMETRY := 1

.PHONY: setup check test bench leaderboard format

setup: .venv/.current

.venv/.current: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fairspace needs Python 3.11 or newer; name one with PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[text,ares,build,run,scale,dev]'
	touch $@

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

bench: setup
	$(BIN)/python -m tests.benchmarks

leaderboard: setup
	$(BIN)/fairspace leaderboard --port $(PORT) --insecure-local
