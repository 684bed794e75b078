# Every target sets up what it needs in .venv; a second run is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check live oracle scale peers bench accuracy timing diagnosis statistics compare-errors fuzz docs clean
.DEFAULT_GOAL := demo

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "vramledger needs Python 3.11 or newer; set PYTHON=/path/to/python3.11 and run make again."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "This Python has no ensurepip; install your system's venv package (Debian: apt-get install python3-venv) and run make again."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[full]" --group dev
	@$(BIN)/python -m compileall -q src  # also where the environment forbids writing bytecode
	@touch $(STAMP)

demo: $(STAMP)  ## size a real requirement, show one full ledger, size from a log
	@$(BIN)/python scripts/demo.py

test: $(STAMP)  ## everything that needs no engine and no network
	@$(BIN)/python -m pytest -n 2 -m "not live and not fuzz and not bench and not scale"

check: $(STAMP)  ## lint, types, import directions, documents in step with the code
	@$(BIN)/ruff check src tests scripts
	@$(BIN)/ruff format --check src tests scripts
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/docs.py --check

live: $(STAMP)  ## against the real engines on this machine's CPU
	@$(BIN)/python scripts/live/prepare.py
	@VRAM_LIVE_REQUIRED=1 $(BIN)/python -m pytest -m live tests/live

scale: $(STAMP)  ## the same answers on Spark, on a Ray cluster and on a PostgreSQL server of their own
	@$(BIN)/python scripts/scale/prepare.py
	@VRAM_SCALE_REQUIRED=1 $(BIN)/python -m pytest -m scale tests/scale

oracle: $(STAMP)  ## the simulator against vLLM's own scheduler, on thousands of random cases
	@cd scripts && $(abspath $(BIN))/python -m oracle

peers: $(STAMP)  ## AIPerf and GuideLLM for make bench, which leaves them out where they are not
	@$(BIN)/python scripts/peers/prepare.py

bench: $(STAMP)  ## start-up, sizing, profiles, simulation, the load client, sealing, judging and the mirror, measured side by side
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python scripts/bench.py
	@$(BIN)/python scripts/bench_profile.py
	@$(BIN)/python scripts/bench_simulate.py
	@$(BIN)/python scripts/bench_client.py
	@$(BIN)/python scripts/bench_rehearse.py
	@$(BIN)/python scripts/bench_bundle.py
	@$(BIN)/python scripts/bench_mirror.py
	@$(BIN)/python scripts/bench_accept.py

accuracy: $(STAMP)  ## fit the calibrated terms, cross-validate, write coefficients and table
	@cd scripts && $(abspath $(BIN))/python -m accuracy

timing: $(STAMP)  ## fit the step time to measured servers, cross-validate, write coefficients and errors
	@cd scripts && $(abspath $(BIN))/python -m timing_fit

diagnosis: $(STAMP)  ## the diagnosis against 210 runs of known causes, some minutes
	@$(BIN)/python scripts/ground_truth/score.py --seeds 1:29:2

statistics: $(STAMP)  ## how often intervals hold the truth, and queues are called rightly, some minutes
	@$(BIN)/python scripts/statistics_held.py

compare-errors: $(STAMP)  ## how often vram compare errs, on drawn runs, a quarter of an hour
	@$(BIN)/python scripts/compare_errors.py

fuzz: $(STAMP)  ## at least 100,000 hostile inputs
	@$(BIN)/python -m pytest -m fuzz tests -p no:randomly

docs: $(STAMP)  ## write the generated parts of the documents
	@$(BIN)/python scripts/docs.py

clean:
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
