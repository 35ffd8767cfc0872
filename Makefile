# Two commands matter: `make run` and `make test`. Both set up whatever is missing.
PYTHON ?= python3
PORT ?= 8000
DOCS_PORT ?= 8002
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
WORKERS ?= 2
.DEFAULT_GOAL := help
# Compiled modules are kept, whatever the shell says: no test process compiles the tests anew.
export PYTHONDONTWRITEBYTECODE :=
.PHONY: help rehearse sbom audit run test budget sweep check-types check-rest pure check docs format fuzz faults focus mutants bench attack lock clean

help: ## This list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

.make/venv: requirements.lock .ci/venv
	@.ci/venv "$(PYTHON)"
	@echo "Installing the dependencies" && $(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@mkdir -p .make && touch $@

.make/venv-dev: requirements-dev.lock .make/venv
	@echo "Installing the test tools" && $(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

.make/npm: package-lock.json .make/venv .ci/npm
	@.ci/npm ci --no-audit --no-fund --loglevel=error
	@mkdir -p staticfiles && touch $@

run: .make/venv .make/npm ## Set up what is missing and serve the planner on 127.0.0.1:8000
	@$(MANAGE) migrate --verbosity 0
	@$(MANAGE) load_catalog
	@$(MANAGE) demo_workspace
	@echo "Planner: http://127.0.0.1:$(PORT)"
	@$(BIN)/gunicorn planner.wsgi --bind 127.0.0.1:$(PORT) --threads 8 --timeout 120 --log-level warning

SPREAD := -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
test: .make/venv-dev .make/npm ## Everything a change needs
	@.ci/browser
	@$(BIN)/python -m pytest $(SPREAD) $(ARGS)

budget: .make/venv-dev .make/npm ## What the tests take: processor time by file, and each test above a second
	@.ci/browser
	@$(BIN)/python -m pytest -p tests.cpu_budget $(SPREAD) -q $(ARGS)

sweep: .make/venv-dev .make/npm ## Every page in a real browser, every width and colour, longer journeys
	@.ci/browser
	@$(BIN)/python -m pytest $(SPREAD) -m sweep tests $(ARGS)

PURE_sizing := tests/planner/sizing --ignore=tests/planner/sizing/test_any_input.py
PURE_costing := tests/planner/costing tests/pricing/market/test_snapshot.py tests/pricing/market/test_accelerators.py tests/pricing/publish/test_comparison.py
pure: .make/venv-dev ## The pure core alone: no Django, no database
	@$(MAKE) --no-print-directory -j2 -Otarget pure-sizing pure-costing

pure-%:
	@PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 OPENBLAS_NUM_THREADS=1 QUICK=1 $(BIN)/python -m pytest -o addopts= -W ignore::pytest.PytestConfigWarning -q -m "not fuzz" $(PURE_$*) $(ARGS)

check: .make/venv-dev .make/npm ## Linters, types, import contracts, migrations, documentation
	@$(MAKE) --no-print-directory -j2 -Otarget check-types check-rest

check-types: ## Types alone, beside which `check` runs all else
	@$(BIN)/mypy planner pricing gpu_cost_planner docs_build tools

check-rest: ## All that `check` runs but the types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/djlint templates --check --quiet
	@$(BIN)/djlint templates --lint --quiet
	@.ci/npm exec --no -- eslint static
	@$(BIN)/lint-imports
	@$(MANAGE) makemigrations --check --dry-run
	@$(BIN)/python -m mkdocs build --strict --quiet

docs: .make/venv-dev ## The documentation, with the reference made from the code, on 127.0.0.1:8002
	@$(BIN)/python -m mkdocs serve --dev-addr 127.0.0.1:$(DOCS_PORT)

format: .make/venv-dev ## Format the code
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .
	@$(BIN)/djlint templates --reformat --quiet

fuzz: .make/venv-dev .make/npm ## Random instances in their long form
	@FUZZ=1 $(BIN)/python -m pytest -n $(WORKERS) -m fuzz $(ARGS)

faults: .make/venv-dev .make/npm ## The fault matrix in its long form
	@FAULTS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m faults $(ARGS)

focus: .make/venv-dev ## The FOCUS export against the public validator (Python 3.12 or 3.13)
	@.ci/focus $(ARGS)

mutants: .make/venv-dev .make/npm ## Does a test notice a change to what makes figures? (ARGS=--short: 60 mutants)
	@$(BIN)/python -W ignore -m tests.mutants --workers $(WORKERS) $(ARGS)

bench: .make/venv-dev .make/npm ## Speed and memory as ratios to baselines of the same run
	@$(BIN)/python -m tests.bench $(ARGS)

rehearse: ## The installation by its documents, in a fresh Debian (root, debootstrap; ARGS=machine or image)
	@$(BIN)/python -m tests.rehearsal $(ARGS)

attack: .make/venv-dev .make/npm ## Hostile requests against two workers on PostgreSQL (ARGS=--short: 300, --count N)
	@$(BIN)/python -W ignore -m tests.attack $(ARGS)

sbom: .make/npm ## Bills of materials, CycloneDX in build/sbom-*.json
	@[ -x .make/sbom/bin/cyclonedx-py ] || { $(PYTHON) -m venv .make/sbom && .make/sbom/bin/pip install -q --disable-pip-version-check "cyclonedx-bom~=7.5"; }
	@mkdir -p build && awk '/^[a-z]/ {first = !seen[$$1]++} first' requirements.lock $(EXTRAS:%=locks/%.lock) | .make/sbom/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o build/sbom-python.json -
	@.ci/npm sbom --omit dev --sbom-format cyclonedx > build/sbom-npm.json && ls build/sbom-*.json

audit: .make/venv-dev ## Known vulnerabilities of the locked packages (asks PyPI and npm)
	@[ -x .make/audit/bin/pip-audit ] || { $(PYTHON) -m venv .make/audit && .make/audit/bin/pip install -q --disable-pip-version-check "pip-audit~=2.10"; }
	@.make/audit/bin/pip-audit --disable-pip --require-hashes -r requirements.lock $(EXTRAS:%=-r locks/%.lock)
	@.ci/npm audit --omit=dev

COMPILE := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate
EXTRAS := aws azure gcp mcp parquet alerts
lock: .make/venv ## Pin the dependencies anew: those of the server, of each extra, and of development
	@$(BIN)/pip install -q uv
	@$(COMPILE) pyproject.toml --extra server -o requirements.lock
	@for extra in $(EXTRAS); do $(COMPILE) pyproject.toml --extra $$extra -c requirements.lock -o locks/$$extra.lock; done
	@$(COMPILE) pyproject.toml --extra server $(EXTRAS:%=--extra %) --group dev -c requirements.lock -o requirements-dev.lock
	@$(COMPILE) --group node -o requirements-node.lock

clean: ## Remove what set-up made (the database stays)
	rm -rf .venv node_modules .make staticfiles
