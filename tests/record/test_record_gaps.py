"""A simulated request's chunks, expanded from its steps, are those that were not written."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorded_runs import measured_request, simulated_run, steps_of
from vramledger.errors import BadInput, CannotKnow
from vramledger.record.gaps import with_gaps
from vramledger.record.requests import RequestRecord
from vramledger.record.run import Run
from vramledger.record.samples import Step

ENDS = [0.0101 * (place + 1) for place in range(12)]
STEPS = [*steps_of(ENDS), *steps_of([end * 3 for end in ENDS[:8]], engine=2, first=100)]


def simulated(number: int, first: int, last: int, **values: object) -> RequestRecord:
    given = {"first_step": first, "last_step": last, "engine": 0} | values
    return RequestRecord(number, **given)  # type: ignore[arg-type]


def offsets(run: Run, rows: int = 4_096) -> list[list[int] | None]:
    return [each for batch in with_gaps(run, rows) for each in batch["chunk_offset_us"].to_pylist()]


def plain(record: RequestRecord, steps: list[Step]) -> list[int] | None:
    """The same, a step at a time."""
    if record.chunk_offset_us is not None:
        return list(record.chunk_offset_us)
    if record.first_step is None or record.last_step is None:
        return None
    ends = {step.step: step.end_s for step in steps if step.engine == record.engine}
    pauses = record.silent_steps or ()
    silent = {
        record.first_step + begin + place
        for begin, length in zip(pauses[::2], pauses[1::2], strict=True)
        for place in range(length)
    }
    first = ends[record.first_step]
    return [
        round((ends[step] - first) * 1e6)
        for step in range(record.first_step, record.last_step + 1)
        if step not in silent
    ]


@st.composite
def requests(draw: st.DrawFn, number: int) -> RequestRecord:
    kind = draw(st.sampled_from(["none", "given", "stepped"]))
    if kind == "none":
        return RequestRecord(number)
    if kind == "given":
        return simulated(number, 1, 3, chunk_offset_us=(0, 5, 9))
    engine, least, most = draw(st.sampled_from([(0, 0, 11), (2, 100, 107)]))
    first = draw(st.integers(least, most))
    last = draw(st.integers(first, most))
    pauses: list[int] = []
    place = 1
    while place < last - first and draw(st.booleans()):
        begin = draw(st.integers(place, last - first - 1))
        length = draw(st.integers(1, last - first - begin))
        pauses += [begin, length]
        place = begin + length + 1
    silent = tuple(pauses) or None
    return simulated(number, first, last, engine=engine, silent_steps=silent)


@settings(max_examples=50)
@given(st.data(), st.integers(1, 12), st.integers(1, 20))
def test_steps_expand_as_they_do_one_at_a_time(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, count: int, rows: int
) -> None:
    drawn = [data.draw(requests(number)) for number in range(count)]
    run = simulated_run(tmp_path_factory.mktemp("run") / "run", drawn, STEPS)
    assert offsets(run, rows) == [plain(each, STEPS) for each in drawn]


def test_a_preempted_request_has_one_long_gap(tmp_path: Path) -> None:
    record = simulated(0, 2, 9, silent_steps=(3, 4))
    run = simulated_run(tmp_path / "run", [record], STEPS)
    assert offsets(run) == [[0, 10_100, 20_200, 70_700]]


def test_measured_requests_stay_as_they_are(tmp_path: Path) -> None:
    run = simulated_run(tmp_path / "run", [measured_request(0, 0.0, (0, 3, 8))], [])
    assert offsets(run) == [[0, 3, 8]]


@pytest.mark.parametrize(
    ("first", "last", "engine"), [(0, 12, 0), (-1, 3, 0), (5, 4, 0), (99, 101, 2), (1, 2, 7)]
)
def test_steps_that_are_not_there_are_refused(
    tmp_path: Path, first: int, last: int, engine: int
) -> None:
    run = simulated_run(tmp_path / "run", [simulated(0, first, last, engine=engine)], STEPS)
    with pytest.raises(BadInput) as refused:
        offsets(run)
    assert str(refused.value) == (
        f"{tmp_path / 'run' / 'steps.parquet'} does not hold all steps that the requests name; use an "
        "unchanged copy of the run."
    )


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        (STEPS[:3] + STEPS[4:], "has steps with holes or out of order"),
        (STEPS[::-1], "has steps with holes or out of order"),
        (steps_of([0.1, 0.3, 0.2]), "has steps that end before the one before them"),
    ],
)
def test_steps_that_make_no_sense_are_refused(tmp_path: Path, steps: list[Step], what: str) -> None:
    run = simulated_run(tmp_path / "run", [simulated(0, 0, 1)], steps)
    with pytest.raises(BadInput) as refused:
        offsets(run)
    assert str(refused.value) == (
        f"{tmp_path / 'run' / 'steps.parquet'} {what}; use an unchanged copy of the run."
    )


def test_without_a_table_of_steps_the_gaps_cannot_be_known(tmp_path: Path) -> None:
    run = simulated_run(tmp_path / "run", [simulated(0, 0, 1)], [])
    with pytest.raises(CannotKnow, match=r"has no steps\.parquet"):
        offsets(run)


def test_requests_that_name_steps_of_an_empty_table_are_refused(tmp_path: Path) -> None:
    run = simulated_run(tmp_path / "run", [simulated(0, 100, 101, engine=2)], steps_of(ENDS))
    with pytest.raises(BadInput, match="does not hold all steps"):
        offsets(run)
