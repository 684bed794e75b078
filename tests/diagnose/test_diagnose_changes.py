"""The run played again: what more memory, other settings and another card would do, and a test that was really made."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ground_truth.cases import made
from ground_truth.engine import Warp, drawn_engine
from ground_truth.recorded import Host, write
from ground_truth.world import Around, played
from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.controlled import controlled
from vramledger.diagnose.counterfactual.bench import bench_of
from vramledger.diagnose.diagnosis import Diagnosis, diagnose, judged_run
from vramledger.diagnose.evidence import evidence_of
from vramledger.errors import UnknownName
from vramledger.record.run import read_run

REMEDIES = ("cache_share", "sequences", "token_budget", "kv_dtype", "tensor_parallel", "replicas", "larger_card")  # fmt: skip


def diagnosed(cause: str, place: Path, **options: object) -> Diagnosis:
    return diagnose(read_run(made(cause, 2, place)), Stated(), **options)  # type: ignore[arg-type]


def test_more_memory_helps_where_the_cache_is_short(tmp_path: Path) -> None:
    found = diagnosed("kv_cache", tmp_path / "run", prices={"H100-80GB-SXM": 2.0})
    now = found.memory.now
    assert now.answer.value == "yes"
    assert now.before is not None
    assert now.after is not None
    assert now.after.ttft_mean_s < now.before.ttft_mean_s
    assert tuple(dict.fromkeys(each.name for each in found.remedies)) == REMEDIES
    for each in found.remedies:
        assert each.untouched
        assert (each.found is None) == bool(each.reason)


@pytest.mark.parametrize("cause", ["sequence_cap", "token_budget", "healthy"])
def test_more_memory_does_nothing_where_something_else_holds(cause: str, tmp_path: Path) -> None:
    found = diagnosed(cause, tmp_path / "run")
    assert found.memory.now.answer.value == "no"
    assert not found.remedies


def test_the_change_against_a_cap_is_expected_to_help(tmp_path: Path) -> None:
    found = diagnosed("sequence_cap", tmp_path / "run")
    assert found.expected is not None
    before, after = found.expected
    assert after.ttft_mean_s < before.ttft_mean_s


def test_a_replay_has_the_pace_of_the_run(tmp_path: Path) -> None:
    evidence = evidence_of(read_run(made("kv_cache", 2, tmp_path / "run")), Stated())
    measured = float(np.nanmedian(evidence.requests.tpot_s))
    assert bench_of(evidence).play().tpot_p50_s == pytest.approx(measured, rel=0.1)


@pytest.mark.parametrize(
    ("cause", "answer"), [("healthy", "not needed"), ("network", "not needed"), ("sequence_cap", "not needed"), ("kv_cache", "justified")],
)  # fmt: skip
def test_upgrades(cause: str, answer: str, tmp_path: Path) -> None:
    found = diagnosed(cause, tmp_path / "run", upgrade="B200")
    assert found.upgrade is not None
    assert found.upgrade.standing.value == answer
    assert found.upgrade.reason.endswith(".")


def test_an_unknown_card_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Unknown GPU 'B2000'"):
        diagnosed("kv_cache", tmp_path / "run", upgrade="B2000")


def pair(folder: Path, fewer: int) -> tuple[Path, Path]:
    """One load on a small pool, with as many requests as fit at most and with fewer."""
    draw = np.random.default_rng(5)
    engine = drawn_engine(draw, 800, 400, max_num_seqs=64)
    engine.settings = replace(engine.settings, num_blocks=600)
    due = np.sort(draw.uniform(0, 60, 150))
    inputs = draw.integers(200, 1400, 150)
    outputs = draw.integers(200, 600, 150)
    found = []
    for cap in (64, fewer):
        engine.settings = replace(engine.settings, max_num_seqs=cap)
        around = Around(warp=Warp.none())
        seen = played(np.random.default_rng(1), engine, around, due, inputs, outputs)
        found.append(write(folder / f"cap-{cap}", engine, seen, Host(), np.random.default_rng(1)))
    return found[0], found[1]


def test_fewer_sequences_are_seen_to_recompute_less(tmp_path: Path) -> None:
    before, after = (evidence_of(read_run(each), Stated()) for each in pair(tmp_path, 5))
    found = controlled(before, after)
    assert found.fell is True
    assert found.before.max_num_seqs == 64
    assert found.reason.startswith("With max_num_seqs 5 in place of 64, preemptions fell: from ")
    back = controlled(after, before)
    assert back.fell is None
    assert (
        back.reason == "The second run did not lower max_num_seqs, so that it is no test of that."
    )


def test_runs_of_different_loads_are_no_test(tmp_path: Path) -> None:
    before = evidence_of(read_run(made("kv_cache", 2, tmp_path / "a")), Stated())
    after = evidence_of(read_run(made("kv_cache", 4, tmp_path / "b")), Stated())
    assert controlled(before, after).reason == (
        "The two runs did not have the same load, so that what differs cannot be laid to max_num_seqs."
    )


def test_the_first_finding_of_a_shortage_with_preemptions_is_the_controlled_test(
    tmp_path: Path,
) -> None:
    before, _ = pair(tmp_path, 5)
    first = judged_run(read_run(before), Stated()).findings[0]
    assert first.cause == "kv_cache"
    assert first.next_change is not None
    assert first.next_change.flag == "max-num-seqs"
