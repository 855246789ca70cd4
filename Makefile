# `make run` and `make test` need nothing but make and Python 3.11 or newer.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
NEED_PYTHON = @test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed. Install it, or name it: make $@ PYTHON=/path/to/python3"; exit 1; }
BOOTSTRAP = $(NEED_PYTHON); exec "$(PYTHON)" -m config.local.bootstrap
ARGS ?=
# Tests wait for servers, browsers and the database as often as they compute.
WORKERS = $(if $(PYTHON),$(shell $(PYTHON) -c 'import os; print(min(5, (os.cpu_count() or 1) + 1))'))

.DEFAULT_GOAL := help
.PHONY: help run reset test check format rooms references screenshots recordings bench bench-frameworks clients site lock dev audit

help:
	@echo "make run               install, start everything, print where to look (Ctrl-C stops it)"
	@echo "make reset             stop what this project started and delete its data"
	@echo "make test ARGS=\"...\"   run the tests; ARGS go to pytest"
	@echo "make check             linters, types, layers, words, deployment and API schema checks"
	@echo "make audit             ask what is known against the pinned dependencies (needs a network)"
	@echo "make format            format the code"
	@echo "make rooms             draw the rooms of docs/architecture.md from the imports; BEFORE=REV counts instead"
	@echo "make references        bring the lines that CONTRIBUTING.md names up to date"
	@echo "make screenshots       take the README's screenshots (needs Chromium)"
	@echo "make recordings        film what the guides show (needs Chromium and ffmpeg)"
	@echo "make bench NAME=...    run the benchmarks whose names begin so"
	@echo "make bench-frameworks  the runtime beside other agent frameworks"
	@echo "make clients           typed Python and TypeScript clients of the API, in build/clients"
	@echo "make site              the docs as a site of plain files, in build/site"
	@echo "make lock              pin the newest allowed dependencies (needs uv)"

run:
	$(BOOTSTRAP) run -m config.local.run

reset:
	$(NEED_PYTHON); exec "$(PYTHON)" -m config.local.reset

test:
	$(BOOTSTRAP) dev -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=15 $(ARGS)

dev:
	$(BOOTSTRAP) dev

check:
	$(BOOTSTRAP) dev -m scripts.check

audit: dev
	@.venv/bin/python -m scripts.audit $(ARGS)

format: dev
	@.venv/bin/python -m ruff format .
	@.venv/bin/python -m ruff check --fix .

rooms: dev
	@.venv/bin/python -m scripts.rooms $(if $(BEFORE),--compare $(BEFORE),--write)

references: dev
	@.venv/bin/python -m scripts.references --write

screenshots: dev
	@.venv/bin/python -m scripts.screenshots

recordings: dev
	@.venv/bin/python -m scripts.recordings

bench:
	@test -n "$(NAME)" || { echo "Name a benchmark: make bench NAME=decide"; exit 1; }
	@ls benchmarks/$(NAME)*.py >/dev/null 2>&1 || { echo "No benchmark begins with $(NAME)."; exit 1; }
	@$(MAKE) --no-print-directory dev
	@for file in benchmarks/$(NAME)*.py; do echo "== $$file"; .venv/bin/python "$$file" || exit 1; done

# Other frameworks have an environment of their own: nothing of the project needs them.
bench-frameworks: dev
	@test -x .venv-frameworks/bin/python || .venv/bin/python -m venv .venv-frameworks
	@.venv-frameworks/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-frameworks.lock
	@.venv/bin/python benchmarks/runtime.py
	@.venv-frameworks/bin/python benchmarks/frameworks.py

clients: dev
	@.venv/bin/python -m scripts.clients build/clients

site: dev
	@.venv/bin/python -m scripts.site build/site

lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml --upgrade -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header pyproject.toml --group dev -c requirements.lock --upgrade -o requirements-dev.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --group frameworks -c requirements.lock --upgrade -o requirements-frameworks.lock
