# Every target works in a fresh clone; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help run stop test test-all check lint types imports migrations deploy audit eval bench docs messages lock
SHELL := /bin/sh
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
SERVER := .venv/installed-server-$(shell cksum < requirements/server.txt | tr ' ' -)
DEV := .venv/installed-dev-$(shell cksum < requirements/dev.txt | tr ' ' -)
BENCH := .venv/installed-bench-$(shell cat requirements/bench.txt 2>/dev/null | cksum | tr ' ' -)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/:/' | awk -F: '{printf "  make %-12s%s\n", $$1, $$2}'

run: $(SERVER) ## Start everything on this machine (PORT=8000)
	@exec $(BIN)/python -m config.run

stop: $(SERVER) ## Stop the embedded databases of this checkout
	@$(BIN)/python -m config.stop

test: $(DEV) ## Run the tests
	@sh .ci/tools
	@$(PYTEST) -n 2 --dist loadfile -m "not slow"
	@$(MAKE) --no-print-directory -C worker test

test-all: $(DEV) ## Run the tests, the slow ones too
	@sh .ci/tools
	@$(PYTEST) -n 2 --dist loadfile --hypothesis-profile=full
	@$(MAKE) --no-print-directory -C worker test

check: lint types imports migrations deploy audit ## Run every check that is not a test
	@$(MAKE) --no-print-directory -C worker check

lint: $(DEV) ## Style
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(DEV) ## Types
	@$(BIN)/mypy .

imports: $(DEV) ## Which package may import which
	@$(BIN)/lint-imports

migrations: $(DEV) ## Models and migrations agree
	@DJANGO_SETTINGS_MODULE=config.settings.test $(BIN)/python manage.py makemigrations --check --dry-run

deploy: $(DEV) ## Django's own list for production
	@DJANGO_SETTINGS_MODULE=config.settings.prod ALLOWED_HOSTS=earmark.invalid DATABASE_URL=postgresql://app:none@db.invalid/earmark \
	  SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))') \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING

audit: $(DEV) ## Known vulnerabilities of pinned packages
	@$(BIN)/python .ci/audit

eval: $(DEV) ## Measure answers
	@$(BIN)/python -m evals

bench: $(BENCH) ## Measure speed
	@$(BIN)/python -m bench

messages: $(DEV) ## Gather and compile what pages say
	@DJANGO_SETTINGS_MODULE=config.settings.test $(BIN)/python manage.py messages --write

soak: $(DEV) ## Search for hours while content changes (MINUTES=60, MODE=celery)
	@$(BIN)/python -m bench.soak

docs: $(DEV) ## Write the files that are generated
	@DJANGO_SETTINGS_MODULE=config.settings.test $(BIN)/python manage.py contract --write
	@DJANGO_SETTINGS_MODULE=config.settings.test $(BIN)/python manage.py errors --write
	@DJANGO_SETTINGS_MODULE=config.settings.test $(BIN)/python manage.py api_contract --write

lock: $(DEV) ## Pin every package again
	@for name in dev bench server; do $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	  $$(test $$name = dev || echo -c requirements/dev.txt) requirements/$$name.in -o requirements/$$name.txt; done

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Earmark needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python3."; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

$(SERVER): .venv/bin/python
	@echo "Installing packages ..."
	@$(INSTALL) requirements/server.txt
	@touch $@

$(DEV): .venv/bin/python
	@echo "Installing packages for development ..."
	@$(INSTALL) requirements/dev.txt
	@touch $@ $(SERVER)

$(BENCH): $(DEV)
	@$(INSTALL) requirements/bench.txt
	@touch $@
