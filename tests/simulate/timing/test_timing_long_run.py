"""Runs longer than what is played go on as they were going."""

from dataclasses import replace

import pytest

from timing_questions import deployed, pricer
from vramledger.simulate.timing.capacity import Capacity
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.long_run import play
from vramledger.simulate.timing.predict import predict
from vramledger.simulate.timing.replay import Replay

ROOMY = Capacity(256, 1e9, 0.0, 1 / 16)
TIGHT = Capacity(256, 4_000.0, 0.0, 1 / 16)


@pytest.mark.parametrize("capacity", [ROOMY, TIGHT], ids=["roomy", "tight"])
def test_a_run_twice_as_long_as_what_is_played_is_as_if_it_were_played(capacity: Capacity) -> None:
    load = Load(500, 50, 64, 20_000)
    told, played = (
        play(pricer(), load, capacity, 0.01),
        Replay(pricer(), load, capacity, 0.01).play(),
    )
    for name in ("ttft", "tpot", "running", "waiting", "seconds", "tokens"):
        assert getattr(told, name) == pytest.approx(getattr(played, name), rel=0.01, abs=0.01)


def test_what_is_short_is_played_whole() -> None:
    load = Load(500, 50, 8, 400)
    assert play(pricer(), load, TIGHT, 0.01) == Replay(pricer(), load, TIGHT, 0.01).play()


def test_a_run_without_an_end_in_sight_is_the_steady_state() -> None:
    load = Load(900, 900, 16, 1e12)
    long = predict(deployed(), load).outlook
    steady = predict(deployed(), replace(load, requests=float("inf"))).outlook
    assert long.ttft == pytest.approx(steady.ttft, rel=0.03)
    assert long.tpot == pytest.approx(steady.tpot, rel=0.03)
    assert long.tokens_per_s == pytest.approx(steady.tokens_per_s, rel=0.02)
