"""The climb of a live search: from below, never far above what held, no more steps than the ends need."""

from hypothesis import given
from hypothesis import strategies as st

from made_up_subjects import MadeUp, up_to
from vramledger.methods.knee.find import find_limits
from vramledger.methods.knee.probes import Probes
from vramledger.methods.ramp.prediction import STEP, started_at
from vramledger.methods.subject import Axis, Range


def climbed(end: int, start: int = 1, step: float = 2.0, safe_share: float = 1.0) -> MadeUp:
    levels = Range(start=start, lowest=1, highest=4096, axis=Axis.CONCURRENCY, step=step)
    subject = MadeUp(up_to(end), levels, draws=False, safe_share=safe_share)
    find_limits(Probes(subject, lambda _done, _of_all: None), 0.1)
    return subject


@given(st.integers(1, 2000), st.floats(1.2, 3.0), st.floats(0.3, 1.0))
def test_no_step_is_far_above_what_held_before_it(end: int, step: float, safe: float) -> None:
    subject = climbed(end, step=step, safe_share=safe)
    held = 1.0
    for level, _ in subject.played:
        assert level <= max(held * step, held + 1) + 0.5
        if level <= end:
            held = max(held, level)


@given(st.integers(1, 2000))
def test_the_end_is_told_within_the_tolerance_and_no_level_twice(end: int) -> None:
    subject = climbed(end)
    levels = [level for level, _ in subject.played]
    assert len(set(levels)) == len(levels)
    held = max(level for level in levels if level <= end)
    failed = min(level for level in levels if level > end)
    assert failed <= max(held * 1.1, held + 1)


def test_a_ratio_of_little_more_than_one_still_climbs_by_one() -> None:
    assert [level for level, _ in climbed(3, step=1.1).played] == [1, 2, 3, 4]


@given(st.integers(20, 2000), st.floats(0.85, 1.2))
def test_a_prediction_that_is_near_needs_fewer_steps(end: int, off: float) -> None:
    begun = started_at(end * off, Axis.CONCURRENCY)
    near = climbed(end, start=round(begun), step=STEP)
    assert len(near.played) < len(climbed(end).played)


def test_the_place_to_start_lies_below_the_prediction() -> None:
    assert started_at(10, Axis.CONCURRENCY) == 7
    assert started_at(1, Axis.CONCURRENCY) == 1
    assert started_at(2.0, Axis.RATE) == 1.4
