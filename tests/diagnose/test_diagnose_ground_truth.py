"""Runs with a known cause, made by the simulator and what lies around an engine: the cause comes first (`make diagnosis` has many more)."""

from pathlib import Path

import pytest

from ground_truth.cases import CASES, made
from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.diagnosis import judged_run
from vramledger.diagnose.finding import HEALTHY
from vramledger.errors import ExitCode
from vramledger.record.run import read_run

FLATTERS = ("memory_growth", "warm_prefix_cache")


@pytest.mark.parametrize("seed", [2, 4])
@pytest.mark.parametrize("cause", CASES)
def test_the_cause_that_is_there_comes_first(cause: str, seed: int, tmp_path: Path) -> None:
    found = judged_run(read_run(made(cause, seed, tmp_path / "run")), Stated())
    first = found.findings[0]
    assert first.cause == cause
    assert all(0 <= each.score <= 1 and 0 <= each.confidence <= 1 for each in found.findings)
    if cause == HEALTHY:
        assert found.exit_code is ExitCode.HOLDS
        assert len(found.findings) == 1
    else:
        assert first.supports
        assert first.next_change is not None
    if cause not in (HEALTHY, *FLATTERS):
        assert found.exit_code is ExitCode.DOES_NOT_HOLD


def test_a_case_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = (made("kv_cache", 2, tmp_path / name) for name in ("a", "b"))
    assert read_run(first).description.sha256 == read_run(second).description.sha256
