"""What a run lacks is named, reduces what is said, and never stops the program."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ground_truth.cases import made
from recorded_runs import described, measured_request, measured_run, metric, simulated_run
from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.diagnosis import Judged, diagnose, judged_run
from vramledger.errors import ExitCode
from vramledger.record.computed_run import ComputedRun
from vramledger.record.document import Origin
from vramledger.record.run import Run, read_run

NO_SERVER = (
    "The run has no server metrics, so that the engine's queue and its KV cache were not seen."
)
NO_GPU = "The run has no GPU samples, so that memory, clocks and other processes were not seen."


def judged_of(run: Run) -> Judged:
    return judged_run(run, Stated())


def without(run: Run, *tables: str) -> Run:
    kept = {name: table for name, table in run.tables.items() if name not in tables}
    return Run(run.path, run.description, kept)


def test_an_empty_run_cannot_be_known(tmp_path: Path) -> None:
    found = diagnose(simulated_run(tmp_path / "run", [], []), Stated())
    (only,) = found.judged.findings
    assert only.message == (
        "The run has neither requests nor server metrics, so nothing can be said of its server."
    )
    assert found.judged.exit_code is ExitCode.CANNOT_KNOW
    assert found.memory.now.answer.value == found.memory.after.answer.value == "unknown"
    assert found.judged.picture.evidence.missing[:2] == ("The run has no requests.", NO_SERVER)


def test_a_slow_run_without_server_metrics_cannot_be_known(tmp_path: Path) -> None:
    run = without(read_run(made("sequence_cap", 2, tmp_path / "run")), "server", "gpu")
    found = judged_of(run)
    assert found.findings[0].cause == "unknown"
    assert found.exit_code is ExitCode.CANNOT_KNOW
    assert (
        "and the engine was not seen, so that the cause cannot be known."
        in found.findings[0].message
    )
    assert found.picture.evidence.missing == (NO_SERVER, NO_GPU)


@pytest.mark.parametrize(
    "cause", ["client", "network", "front_end", "warm_up", "remote_fetch", "healthy"]
)
def test_what_clients_see_is_named_without_server_metrics(cause: str, tmp_path: Path) -> None:
    run = without(read_run(made(cause, 2, tmp_path / "run")), "server", "gpu")
    assert judged_of(run).findings[0].cause == cause


@pytest.mark.parametrize("cause", ["kv_cache", "token_budget", "arrivals_above_capacity"])
def test_what_engines_tell_is_named_without_gpus(cause: str, tmp_path: Path) -> None:
    found = judged_of(without(read_run(made(cause, 2, tmp_path / "run")), "gpu"))
    assert found.findings[0].cause == cause
    assert NO_GPU in found.picture.evidence.missing


def test_a_small_measured_run_is_judged(tmp_path: Path) -> None:
    found = judged_of(measured_run(tmp_path / "run"))
    assert found.findings
    assert found.exit_code in (ExitCode.HOLDS, ExitCode.DOES_NOT_HOLD, ExitCode.CANNOT_KNOW)


@pytest.mark.parametrize("seed", range(6))
def test_rows_full_of_holes_and_nonsense_stop_nothing(seed: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(seed)

    def at_times(value: Any) -> Any:
        return value if draw.random() < 0.5 else None

    with ComputedRun(tmp_path / "run", described(Origin.MEASURED)) as run:
        for number in range(30):
            due = float(draw.uniform(0, 20))
            run.append(
                measured_request(
                    number, due, (0, 10), dispatched_s=at_times(due + draw.normal()), headers_s=at_times(due - 5.0),
                    first_content_s=at_times(due + draw.normal()), done_s=at_times(due - 1.0), output_tokens_got=at_times(2),
                    input_tokens_got=at_times(0), queue_s=at_times(-1.0), cached_tokens=at_times(10**6),
                )
            )  # fmt: skip
        for number in range(40):
            run.append(metric(number * 0.5, float(draw.choice([-1.0, 0.0, 1e12]))))
    found = diagnose(read_run(tmp_path / "run"), Stated())
    assert found.judged.findings


def test_clocks_that_jump_are_named(tmp_path: Path) -> None:
    with ComputedRun(tmp_path / "run", described(Origin.MEASURED)) as run:
        for number in range(20):
            run.append(measured_request(number, number * 1.0, (0, 10), done_s=number - 100.0))
    missing = judged_of(read_run(tmp_path / "run")).picture.evidence.missing
    assert "Clocks jumped: some requests ended before they were due or were sent out of order, and are left out." in missing  # fmt: skip


@pytest.mark.parametrize("cause", ["healthy", "network"])
def test_no_sentence_holds_a_figure_that_is_none(cause: str, tmp_path: Path) -> None:
    found = judged_of(read_run(made(cause, 2, tmp_path / "run")))
    said = [
        text
        for each in found.findings
        for text in (*each.supports, *each.contradicts, *each.unseen)
    ]
    assert said
    assert not [each for each in said if re.search(r"\bnan\b", each)]
