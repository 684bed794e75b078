"""Each rule of sound runs: one row that breaks it is found and named; sound rows are left alone."""

from pathlib import Path

import pytest

from recorded_runs import described, measured_request, measured_run, metric, simulated_run, steps_of
from vramledger.errors import BadInput
from vramledger.record.computed_run import ComputedRun
from vramledger.record.run import read_run
from vramledger.record.samples import GpuSample, Step
from vramledger.record.soundness import RULES, check_sound
from vramledger.record.tables import ROW_TYPES, Row


def request(**values: object) -> Row:
    return measured_request(1, 5.0, (0, 10), **values)


BROKEN: list[tuple[Row, str]] = [
    (request(outcome="unknown"), "have an unknown outcome"),
    (request(tokens_basis="guess"), "have an unknown tokens_basis"),
    (measured_request(0, 5.0, (0, 10)), "share their request_id"),
    (request(dispatched_s=4.0), "have moments out of order"),
    (request(done_s=5.2), "have moments out of order"),
    (request(first_answer_s=5.2), "have moments out of order"),
    (request(first_role_s=5.0), "have moments out of order"),
    (request(preemptions=-1), "have a negative count"),
    (request(chunk_tokens=(1,)), "have chunk_offset_us and chunk_tokens of different lengths"),
    (request(chunk_offset_us=(3, 10)), "have chunk offsets that do not rise from 0"),
    (
        request(chunk_offset_us=(0, 10, 5), chunk_tokens=(1, 1, 1)),
        "have chunk offsets that do not rise from 0",
    ),
    (request(first_step=4, last_step=3), "have a last_step before their first_step"),
    (request(silent_steps=(1, 2, 3)), "have silent_steps that are no pairs"),
    (metric(1.0, 2.0).__class__(1.0, "target-0", "x", "sum", 1.0), "have an unknown kind"),  # type: ignore[arg-type]
    (GpuSample(1.0, "GPU-0", utilization=55.0), "have a utilization outside 0..1"),
    (GpuSample(1.0, "GPU-0", free_bytes=-4), "have negative bytes"),
    (Step(0, 2.0, 1.0, 1, 1, 0, 0.5), "end before they start"),
    (Step(0, 1.0, 2.0, 1, 1, 0, 51.0), "have a kv_usage outside 0..1"),
    (Step(0, 1.0, 2.0, -1, 1, 0, None), "have a negative count"),
]


@pytest.mark.parametrize(
    ("row", "says"), BROKEN, ids=lambda each: each if isinstance(each, str) else ""
)
def test_a_row_that_breaks_a_rule_is_named(tmp_path: Path, row: Row, says: str) -> None:
    with ComputedRun(tmp_path / "run", described()) as writing:
        writing.append(measured_request(0, 1.0, (0, 10)))
        writing.append(row)
    run = read_run(tmp_path / "run")
    rows = 2 if "share" in says else 1
    with pytest.raises(BadInput) as refused:
        check_sound(run)
    assert str(refused.value) == (
        f"{tmp_path / 'run' / ROW_TYPES[type(row)].file} has rows that {says} ({rows}); it was changed or "
        "wrongly recorded, so leave this run out."
    )


def test_every_rule_is_broken_by_one_of_these() -> None:
    assert {says for _, says in BROKEN} == {rule.says for rule in RULES}


def test_sound_runs_pass(tmp_path: Path) -> None:
    check_sound(measured_run(tmp_path / "measured"))
    check_sound(simulated_run(tmp_path / "simulated", [], steps_of([1.0, 2.0])))
