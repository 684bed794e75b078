"""Runs with a known cause, made by the simulator and what lies around an engine: the cause comes first (`make diagnosis` has many more)."""

from dataclasses import replace
from pathlib import Path

import pytest

from ground_truth.cases import CASES, made
from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.diagnosis import judged, judged_run
from vramledger.diagnose.evidence import evidence_of
from vramledger.diagnose.finding import HEALTHY, Severity
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


@pytest.mark.parametrize("cause", ["kv_cache", "sequence_cap", "token_budget"])
def test_limits_are_told_apart_where_the_run_does_not_state_the_cap(
    cause: str, tmp_path: Path
) -> None:
    evidence = evidence_of(read_run(made(cause, 2, tmp_path / "run")), Stated())
    unstated = replace(evidence.setting, max_num_seqs=256, stated=False)
    found = judged(replace(evidence, setting=unstated))
    assert found.findings[0].cause == cause


def test_of_what_explains_the_same_time_one_cause_is_an_error(tmp_path: Path) -> None:
    found = judged_run(read_run(made("front_end", 2, tmp_path / "run")), Stated())
    severe = [each.cause for each in found.findings if each.severity is Severity.ERROR]
    assert severe == ["front_end"]
