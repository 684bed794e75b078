"""Calibrated on one run of the real engine, the simulator tells another at another rate and of other lengths.

The second load is served before and after the first. Where its own two runs differ by more than a tenth, the machine is
another host from one minute to the next, and times decide nothing there; preemptions are counted all the same.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from live.served_engine import Served
from live.tiny_models import TINY, write_model
from stored_workloads import request, stored
from trial_command import result_of, trial_run
from vramledger.calibrate.calibration import calibrate, typical_of_runs
from vramledger.calibrate.host_prior import host_prior
from vramledger.calibrate.recorded import Recorded, read_recorded
from vramledger.calibrate.reproduced import reproduced_at
from vramledger.calibrate.run_deployment import Stated

pytestmark = pytest.mark.live

OPTIONS = "--kv-cache-memory-bytes 4M --max-model-len 512 --block-size 32 --max-num-seqs 32"
LETTERS = json.dumps({"allowed_token_ids": list(range(67, 93))})
SENT = ("--api", "completions", "--token-ids", "--body", LETTERS, "--json")
COUNT = 200
REPEATS = 0.10  # the most that mean E2E may differ between two runs of one load


@pytest.fixture(scope="module")
def served(engine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("calibrated")
    model = write_model(home / "m", TINY["llama"] | {"vocab_size": 4096})
    running = Served(engine_python, model, OPTIONS, home / "server.log")
    try:
        running.await_healthy()
        yield running
    finally:
        running.close()


def _run(
    served: Served, folder: Path, rate: float, inputs: tuple[int, int], outputs: tuple[int, int]
) -> tuple[Recorded, int]:
    """A run of random arrivals and lengths, and the preemptions that the engine counted."""
    draw, moment, rows = random.Random(rate), 0.0, []
    for row in range(COUNT):
        moment += draw.expovariate(rate)
        tokens = {"input_tokens": draw.randint(*inputs), "output_tokens": draw.randint(*outputs)}
        rows.append(request(row, arrival_s=moment, **tokens))
    workload = stored(folder.with_suffix(".parquet"), rows)
    log = ("--server-log", str(served.log))
    found = result_of(trial_run(served.address, workload, folder, *log, *SENT))
    assert found["requests"]["ok"] == COUNT
    return read_recorded(folder, Stated(gpu="cpu")), int(found["preemptions"])


def test_a_second_run_is_told_by_the_first(served: Served, tmp_path: Path) -> None:
    load = (30.0, (60, 280), (10, 180))
    second, counted = _run(served, tmp_path / "second", *load)
    first, _ = _run(served, tmp_path / "first", 60.0, (20, 200), (20, 250))
    again, _ = _run(served, tmp_path / "again", *load)
    found = calibrate([first])
    typical = typical_of_runs([second])
    prior = host_prior(second.deployment, found.coefficients, typical, client=True)
    told = reproduced_at(second, prior, prior.prices, prior.cost(prior.prices))
    assert told.e2e is not None
    assert told.tpot is not None
    assert counted > 0
    assert abs(told.preemptions / counted - 1) < 0.25
    apart = _mean_e2e(again) / _mean_e2e(second) - 1
    if abs(apart) > REPEATS:
        pytest.skip(
            f"preemptions hold; the same load took {apart:+.0%} when repeated, so times decide nothing"
        )
    e2e, tpot = told.e2e.mean, told.tpot.mean
    if abs(e2e) >= 0.15 or abs(tpot) >= 0.10:
        pytest.xfail(f"not yet: mean E2E {e2e:+.1%} of 15 %, mean TPOT {tpot:+.1%} of 10 %")


def _mean_e2e(run: Recorded) -> float:
    seen = run.stamps.observed
    return float((seen.last_token_ns - seen.arrival_ns).mean())
