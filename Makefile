# make demo   install into .venv and show what there is
# make test   install into .venv and run everything that CI runs
# make docs   install into .venv and build the documentation
# make bench  install into .venv and measure the speed claims (not part of CI)
# make test-lowest install the lowest declared versions into .venv-lowest and run the tests (not part of CI)
# make test-wheel build wheel and sdist, install them into .venv-wheel and run them there (not part of CI)
# make attack install into .venv and try to break it, at full size (not part of CI)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
WHEEL := .venv-wheel
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

PYTEST := -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

# Two workers and many short processes import the same modules: compile them once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test suite static browser test-lowest test-wheel docs bench attack format clean
.PHONY: ruff mypy imports

demo: $(VENV)/installed
	$(BIN)/python -m taskalgebra.apps.demo

# What waits for the network or for one core goes on beside what does not.
test:
	$(MAKE) --no-print-directory --jobs 2 browser $(VENV)/installed-test
	$(MAKE) --no-print-directory --jobs 2 static suite

browser:
	$(PYTHON) tests/chromium.py

suite: $(VENV)/installed-test
	$(BIN)/python $(PYTEST)

static: $(VENV)/installed-test
	$(MAKE) --no-print-directory --keep-going --output-sync=target ruff imports mypy

ruff:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

imports:
	$(BIN)/lint-imports

mypy:
	$(BIN)/mypy

test-lowest: $(LOWEST)/installed
	# Old dependencies beside new ones of theirs give warnings that are not ours.
	$(LOWEST)/bin/python $(PYTEST) -W default

test-wheel: $(VENV)/installed-test
	$(BIN)/python tests/wheel.py $(WHEEL)

docs: $(VENV)/installed-docs
	$(BIN)/sphinx-build -q -W --keep-going -n docs build/docs
	@echo "The documentation is at build/docs/index.html"

bench: $(VENV)/installed-bench
	$(BIN)/python benchmarks/run_all.py

attack: $(VENV)/installed-test
	$(BIN)/python tests/attack/run.py

format: $(VENV)/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable ".[cli,figures]"
	touch $@

$(VENV)/installed-test: pyproject.toml constraints.txt | $(BIN)/python
	# Most of these modules are never imported; those that are get compiled then.
	$(PIP) --no-compile --editable ".[test]"
	touch $@ $(VENV)/installed

$(VENV)/installed-docs: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable ".[docs]"
	touch $@ $(VENV)/installed

$(VENV)/installed-bench: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable ".[test,bench]"
	touch $@ $(VENV)/installed

$(LOWEST)/installed: pyproject.toml constraints.txt tests/lowest.py
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tests/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet \
		--constraint $(LOWEST)/lowest.txt --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) $(WHEEL) build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
