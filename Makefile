# make scan REPO=path   audit a repository, write portaudit-report.html and say where
# make test             all tests
# make check            format, lint, types, tests, as CI does
# make bench            ratios against a bare parse, see bench/README.md
PYTHON ?= python3
VENV   ?= .venv
OUT    ?= portaudit-report.html
BIN    := $(VENV)/bin
TARGET ?=

.PHONY: scan test check bench lint rules clean
.DEFAULT_GOAL := help

help: ## this text
	@sed -n 's/^# //p' Makefile | head -4

$(BIN)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(BIN)/.dev: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

scan: $(BIN)/.installed
	@test -n "$(REPO)" || { echo "give the repository: make scan REPO=path"; exit 2; }
	@$(BIN)/portaudit scan "$(REPO)" $(if $(TARGET),--target "$(TARGET)") -f text -f html -o - -o "$(OUT)"

test: $(BIN)/.dev
	$(BIN)/python -m pytest

lint: $(BIN)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

check: lint test

bench: $(BIN)/.dev
	@test -n "$(REPO)" || { echo "give a CUDA repository: make bench REPO=path"; exit 2; }
	$(BIN)/python bench/cold_scan.py "$(REPO)"

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
