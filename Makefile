# Needs Python 3.11 or later with pip and venv; everything else is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo lint test test-no-compiler test-all test-versions bench site release clean

install: .venv/.installed

# what Bellcrank itself needs, and nothing for its tests
.venv/.runs: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Bellcrank needs Python 3.11 or later; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.installed: .venv/.runs
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

demo: .venv/.runs
	$(BIN)/python examples/demo.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy src
	$(BIN)/lint-imports
	$(BIN)/python -m tests.names

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

# the quick tests as on a machine without a compiler: models run in WebAssembly, tests that need a compiler are skipped
test-no-compiler: install
	$(BIN)/python -m tests.no_compiler -n 2 --dist worksteal -q

# the long tests (marker `campaign`) too, an hour and a half on two cores
test-all: test .venv/.campaign
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m campaign

# a part of the tests with the oldest declared and the newest versions of NumPy, SciPy and others, with every Python found
test-versions:
	$(PYTHON) -m tests.versions

.venv/.campaign: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable '.[campaign]'
	@touch $@

.venv/.bench: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

bench: .venv/.bench
	$(BIN)/python benchmarks/operations.py
	$(BIN)/python benchmarks/derivation.py
	$(BIN)/python benchmarks/rhs.py

.venv/.site: .venv/.runs
	$(BIN)/python -m pip install --quiet --editable '.[site]'
	@touch $@

# the documentation with live pages of all examples, in build/site/html; the first time takes some minutes, examples are kept
site: .venv/.site
	$(BIN)/python -m website

.venv/.release: .venv/.runs
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	@touch $@

# sdist and wheel in dist/: built, checked, installed in a clean environment, where the demo runs
release: .venv/.release
	$(BIN)/python -m tests.release

clean:
	rm -rf .venv build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
