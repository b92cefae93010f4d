# Two commands set everything up on a fresh machine: `make demo` runs the main job, `make test` checks all of it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo

.PHONY: demo test package clean

demo: $(VENV)/.core
	$(BIN)/winnow demo $(DEMO)

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2

package:
	PYTHON=$(PYTHON) tools/check_package.sh

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Winnow needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) $(DEMO) build dist .nox .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
