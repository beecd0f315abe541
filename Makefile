# What you need: Python 3.11 or newer, a C++17 compiler, git and make. Try `make demo`.

PYTHON ?= python3
WORKERS ?= 2
REPEATS ?= 100
SEED ?= 0
CHANGES ?= 100
ONLY ?= src/suffice
BIN := .venv/bin
CORE := $(shell find src/core -type f)
FAST := "not slow and not hostile"
# Packages of which fast tests run every line and branch.
COMPLETE := 'src/suffice/tally/*,src/suffice/prior/*,src/suffice/count/*,src/suffice/persist/*'
# Modules are compiled at their first import: most of what is installed is never imported.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile

# Bytecode is kept: without it every process of the tests would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo build engines wheel test test-fast test-oldest coverage check sanitize wheel-check docs format hooks bench quality ng-jordan mutants clean

help:
	@echo "make demo         install, and show what suffice does"
	@echo "make build        compile what has changed in src/core"
	@echo "make engines      install what the tests need besides Python packages: PostgreSQL, Java, Chromium (as root, on Debian)"
	@echo "make wheel        build a wheel of this machine's kind, in dist"
	@echo "make test         install with the dev extra, and run the whole test suite"
	@echo "make test-fast    the tests that are quick, without those marked slow or hostile"
	@echo "make test-oldest  the whole test suite with the oldest releases that pyproject.toml allows, in .venv-oldest"
	@echo "make coverage     branch coverage of the quick tests: 95 % overall, 100 % of tallies, priors, counting, files"
	@echo "make check        formatting, lint, types and architecture"
	@echo "make sanitize     the tests of the core, compiled with checks of memory and of undefined behaviour"
	@echo "make wheel-check  build the wheel and use it in a new environment, base dependencies only"
	@echo "make docs         build the documentation site: build/docs/html/index.html"
	@echo "make format       let ruff and clang-format format, and ruff fix what it can"
	@echo "make hooks        have git run the checks before every commit"
	@echo "make bench        time suffice against scikit-learn, side by side"
	@echo "make quality      log-loss and accuracy beside scikit-learn's, on a folder of data sets"
	@echo "make ng-jordan    naive Bayes against logistic regression as rows grow (REPEATS=100)"
	@echo "make mutants      make small random changes to a copy of the code, and list those that no test notices"
	@echo "                  (SEED=0 CHANGES=100 ONLY=src/suffice)"
	@echo "make clean        remove the environment, caches and built files"

demo: .venv/installed
	@mkdir -p build
	$(BIN)/python -m suffice demo -o build/suffice-demo.html

build: .venv/built

engines:
	@tools/install_engines.sh

wheel: .venv/built
	$(BIN)/python -m pip wheel -qq --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

test: .venv/built
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-fast: .venv/built
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m $(FAST) --hypothesis-profile=few

# Old releases give deprecation warnings about newer ones of their own dependencies.
test-oldest: .venv-oldest/installed
	.venv-oldest/bin/python -m pytest -n $(WORKERS) --dist worksteal -W ignore::DeprecationWarning

coverage: .venv/built
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m $(FAST) --cov --cov-report=
	$(BIN)/python -m coverage report --fail-under=95
	$(BIN)/python -m coverage report --fail-under=100 --include=$(COMPLETE)

check: .venv/built
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror src/core/*.cpp src/core/*.h src/core/loops/*

# The core with checks of every access to memory and of undefined behaviour, under its own tests.
SANITIZERS = $(foreach one,libasan.so libubsan.so,$(shell $(CXX) -print-file-name=$(one)))
sanitize: .venv/built
	$(BIN)/cmake -S src/core -B build/sanitize -G Ninja -DSUFFICE_SANITIZE=ON -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python
	$(BIN)/cmake --build build/sanitize
	LD_PRELOAD="$(SANITIZERS)" ASAN_OPTIONS=detect_leaks=0 SUFFICE_CORE=build/sanitize $(BIN)/python -m pytest -n $(WORKERS) tests/core

wheel-check: .venv/built
	$(BIN)/python tools/check_wheel.py

# Pages, the reference and every figure. A warning is an error.
docs: .venv/built
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d build/docs/doctrees docs build/docs/html

format: .venv/installed-dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/clang-format -i src/core/*.cpp src/core/*.h src/core/loops/*

hooks: .venv/installed-dev
	$(BIN)/pre-commit install

bench: .venv/built
	$(BIN)/python -m benchmarks

quality: .venv/built
	$(BIN)/python -m benchmarks.quality

ng-jordan: .venv/built
	$(BIN)/python -m suffice.lab.ng_jordan --repeats $(REPEATS)

mutants: .venv/built
	$(BIN)/python -m benchmarks.mutants --seed $(SEED) --changes $(CHANGES) --only $(ONLY)

# The environment is updated only when pyproject.toml has changed.
define environment
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("suffice needs Python 3.11 or newer. Name one: make PYTHON=python3.12 ...")'
	@echo "Installing into .venv ..."
	@$(PYTHON) -m venv .venv
endef

.venv/installed: pyproject.toml $(CORE)
	$(environment)
	@$(PIP) --editable .
	@touch $@

# What compiles is installed first and kept, so that a change compiles only what depends on it.
# pyspark is built here from its source, which needs setuptools and wheel.
.venv/installed-dev: pyproject.toml
	$(environment)
	@$(PIP) 'cmake>=3.20.2' 'nanobind>=2.4' 'ninja>=1.11.1' 'scikit-build-core>=0.10' setuptools wheel
	@$(PIP) --no-build-isolation --editable '.[dev]'
	@touch .venv/installed $@ .venv/built

.venv/built: .venv/installed-dev $(CORE)
	@$(PIP) --no-build-isolation --no-deps --editable .
	@$(BIN)/python tools/write_core_stub.py
	@touch .venv/installed $@

.venv-oldest/installed: pyproject.toml tools/oldest.py
	@$(PYTHON) -c 'import sys; sys.version_info[:2] == (3, 11) or sys.exit("The oldest releases have wheels for Python 3.11. Name it: make PYTHON=python3.11 ...")'
	@echo "Installing into .venv-oldest ..."
	@$(PYTHON) -m venv --clear .venv-oldest
	@$(PYTHON) tools/oldest.py >.venv-oldest/oldest.txt
	@.venv-oldest/bin/python -m pip install -qq --disable-pip-version-check --no-compile --requirement .venv-oldest/oldest.txt
	@.venv-oldest/bin/python -m pip install -qq --disable-pip-version-check --no-compile --no-deps --editable .
	@touch $@

clean:
	rm -rf .venv .venv-oldest .coverage .hypothesis .mutants .mypy_cache .ruff_cache .import_linter_cache build dist
	find src tests benchmarks tools -name __pycache__ -prune -exec rm -rf {} +
