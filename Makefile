# Everything a newcomer needs: Python 3.11 or newer, git and make. Try `make demo`.

PYTHON ?= python3
WORKERS ?= 2
REPEATS ?= 100
SEED ?= 0
CHANGES ?= 100
ONLY ?= src/suffice
BIN := .venv/bin
# Modules are compiled when they are first imported: most of what is installed never is.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile

.DEFAULT_GOAL := help
.PHONY: help demo test check wheel-check format bench quality ng-jordan mutants clean

help:
	@echo "make demo         install, and show what suffice does; the first run compiles for a minute or two"
	@echo "make test         install with the dev extra, and run the whole test suite"
	@echo "make check        formatting, lint, types and architecture"
	@echo "make wheel-check  build the wheel and use it in a new environment, base dependencies only"
	@echo "make format       let ruff format and fix what it can"
	@echo "make bench        time suffice against scikit-learn, side by side"
	@echo "make quality      log-loss and accuracy beside scikit-learn's, on a folder of data sets"
	@echo "make ng-jordan    naive Bayes against logistic regression as rows grow (REPEATS=100)"
	@echo "make mutants      make small random changes to a copy of the code, and say which of them tests notice"
	@echo "                  (SEED=0 CHANGES=100 ONLY=src/suffice)"
	@echo "make clean        remove the environment, caches and built files"

demo: .venv/installed
	$(BIN)/python -m suffice.demo

test: .venv/installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: .venv/installed-dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

wheel-check: .venv/installed-dev
	$(BIN)/python tools/check_wheel.py

format: .venv/installed-dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

quality: .venv/installed-dev
	$(BIN)/python -m benchmarks.quality

ng-jordan: .venv/installed-dev
	$(BIN)/python -m suffice.lab.ng_jordan --repeats $(REPEATS)

mutants: .venv/installed-dev
	$(BIN)/python -m benchmarks.mutants --seed $(SEED) --changes $(CHANGES) --only $(ONLY)

# The environment is made again only when pyproject.toml has changed.
define environment
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("suffice needs Python 3.11 or newer. Name one: make PYTHON=python3.12 ...")'
	@echo "Installing into .venv ..."
	@$(PYTHON) -m venv .venv
endef

.venv/installed: pyproject.toml
	$(environment)
	@$(PIP) --editable .
	@touch $@

.venv/installed-dev: pyproject.toml
	$(environment)
	@$(PIP) --editable '.[dev]'
	@touch .venv/installed $@

clean:
	rm -rf .venv .hypothesis .mutants .mypy_cache .ruff_cache .import_linter_cache build dist
	find src tests benchmarks tools -name __pycache__ -prune -exec rm -rf {} +
