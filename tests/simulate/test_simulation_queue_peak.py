"""The longest queue and the room in the cache that a run left."""

import numpy as np
import pytest

from vramledger.simulate.engines import Engine
from vramledger.simulate.fast.records import RECORD, STEP, FastOutcome
from vramledger.simulate.kv_room import KvRoom
from vramledger.simulate.queue_peak import QueuePeak, queue_peak

S = 1_000_000_000


def engine(*rows: tuple[int, int, int], stuck: str = "") -> Engine:
    """Steps as start and end in seconds and requests waiting."""
    steps = np.zeros(len(rows), STEP)
    for number, (start, end, waiting) in enumerate(rows):
        steps[number]["start_ns"], steps[number]["end_ns"] = start * S, end * S
        steps[number]["waiting"] = waiting
    end_ns = int(steps["end_ns"].max(initial=0))
    outcome = FastOutcome(np.zeros(0, RECORD), steps, len(steps), end_ns, stuck)
    return Engine(np.zeros(0, np.int64), outcome, compiled=True)


@pytest.mark.parametrize(
    ("rows", "drained"),
    [
        (((0, 1, 2), (1, 2, 7), (2, 4, 3), (4, 5, 0)), 3.0),  # a step begins with nobody waiting
        (((0, 1, 2), (1, 2, 7), (2, 4, 3), (6, 7, 1)), 3.0),  # the engine idles
        (((0, 1, 2), (1, 2, 7), (2, 4, 3)), 3.0),  # all is over
    ],
)
def test_a_queue_is_drained_when_nobody_waits(
    rows: tuple[tuple[int, int, int], ...], drained: float
) -> None:
    assert queue_peak([engine(*rows)]) == QueuePeak(7, 1.0, drained)


def test_a_queue_that_is_stuck_never_drains() -> None:
    found = queue_peak([engine((0, 1, 2), (1, 2, 3), stuck="Request 1 never starts.")])
    assert found == QueuePeak(3, 1.0, None)


def test_the_engine_that_took_longest_is_told() -> None:
    slow, quick = engine((0, 1, 2), (1, 9, 1)), engine((0, 1, 8), (1, 2, 0))
    assert queue_peak([quick, slow, engine((0, 1, 0))]) == QueuePeak(2, 0.0, 9.0)
    assert queue_peak([engine((0, 1, 0)), engine()]) is None


def test_headroom_is_kept_at_the_percentile_or_at_the_peak() -> None:
    room = KvRoom(headroom=0.25, used_p99=0.7, used_max=0.8)
    assert (room.kept_at_p99, room.kept_at_peak) == (True, False)
    assert KvRoom(0.25, None, None).kept_at_p99 is None
