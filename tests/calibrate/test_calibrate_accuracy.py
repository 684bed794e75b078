from dataclasses import replace

import numpy as np
import pytest

from hosts import asked, believed, engine
from vramledger.calibrate.accuracy import differences, kv_usage_at, replayed_stamps
from vramledger.calibrate.observed import Observed
from vramledger.calibrate.replay import replay
from vramledger.calibrate.terms import cost_of
from vramledger.errors import BadInput
from vramledger.simulate.engines import Engine


def _run(load: Observed) -> tuple[Engine, ...]:
    return replay(engine(), load, cost_of(believed().prices, believed().tables))


def test_a_replay_does_not_differ_from_itself() -> None:
    engines = _run(asked(5.0))
    run = replayed_stamps(asked(5.0), engines)
    for one in differences(run, engines, np.ones(len(run), np.bool_)).values():
        assert one is not None
        assert (one.mean, one.p50, one.p90, one.p99) == (0, 0, 0, 0)


def test_differences_are_those_of_what_replaying_gave() -> None:
    engines = _run(asked(5.0))
    run = replayed_stamps(asked(5.0), engines)
    slow = replace(
        run, first_token_ns=run.queued_ns + 2 * (run.first_token_ns - run.queued_ns),
        last_token_ns=run.queued_ns + 2 * (run.last_token_ns - run.queued_ns),
    )  # fmt: skip
    found = differences(slow, engines, np.ones(len(run), np.bool_))
    assert {name: one and one.mean for name, one in found.items()} == {
        name: pytest.approx(-0.5) for name in ("TTFT", "TPOT", "E2E")
    }


def test_answers_of_one_token_have_no_time_between_tokens() -> None:
    load = replace(asked(5.0), output_tokens=np.ones(len(asked(5.0)), np.int64))
    engines = _run(load)
    run = replayed_stamps(load, engines)
    found = differences(run, engines, np.ones(len(run), np.bool_))
    assert found["TPOT"] is None
    assert found["E2E"] is not None
    assert found["E2E"].requests == len(run)


def test_comparing_nobody_is_refused() -> None:
    engines = _run(asked(5.0))
    run = replayed_stamps(asked(5.0), engines)
    with pytest.raises(BadInput) as refused:
        differences(run, engines, np.zeros(len(run), np.bool_))
    assert str(refused.value) == (
        "None of these requests finished, so there is nothing to compare; choose others."
    )


def test_an_engine_tells_its_use_when_a_step_ends_with_the_next_one_scheduled() -> None:
    (worked,) = _run(asked(5.0))
    steps = worked.found.steps
    ends = steps["end_ns"][:-1]
    busy = steps["start_ns"][1:] == ends
    told = kv_usage_at((worked,), engine(), ends[busy])
    usable = engine().num_blocks - 1
    assert told.tolist() == (steps["used_blocks"][1:][busy] / usable).tolist()
    assert kv_usage_at((worked,), engine(), np.array([steps["end_ns"][-1]])).tolist() == [0]
