"""The client's figures about itself, and the rules by which it calls itself the bottleneck."""

import asyncio
import json
import random
import time
from dataclasses import replace

import uvloop
from hypothesis import given
from hypothesis import strategies as st

from vramledger.trial.client.health import Health, Pulse, Spread, bottleneck
from vramledger.trial.client.sketch import Sketch

SOUND = Health(
    seconds=100.0,
    loop_lag_s=Spread(0.0001, 0.001, 0.01),
    late_dispatch_s=Spread(0.0002, 0.002, 0.02),
    unread_s=0.003,
    cpu_s=40.0,
    cpu_share=0.6,
    busy_windows=0.0,
    gc_pauses=3,
    gc_s=0.01,
    gc_longest_s=0.004,
    most_sockets=64,
    reopened=0,
)


def test_a_client_in_time_is_no_bottleneck() -> None:
    assert bottleneck(SOUND) is None
    nothing = replace(SOUND, late_dispatch_s=Spread(None, None, None))
    assert bottleneck(nothing) is None


def test_each_rule_is_said_with_its_figure_and_the_remedy() -> None:
    late = replace(SOUND, late_dispatch_s=Spread(0.001, 0.0074, 0.1))
    assert bottleneck(late) == (
        "The client was the bottleneck: 1 % of the requests left 7.4 ms late or later; use more workers, or cores that "
        "nothing else uses."
    )
    beside_it = replace(late, ttft_p50_s=0.2)  # 7.4 ms decide nothing of 200 ms
    assert bottleneck(beside_it) is None
    slow = replace(SOUND, loop_lag_s=Spread(0.001, 0.02, 0.1), cpu_share=0.97, busy_windows=0.5)
    assert bottleneck(slow) == (
        "The client was the bottleneck: its loop was 20.0 ms late or later 1 % of the time; it used 97% of its core at "
        "worst; use more workers, or cores that nothing else uses."
    )


def test_a_client_without_sockets_is_the_bottleneck() -> None:
    assert bottleneck(replace(SOUND, no_sockets=1200)) == (
        "The client was the bottleneck: it had no socket for 1,200 requests (see ulimit -n); use more workers, or cores "
        "that nothing else uses."
    )


def test_health_survives_its_way_through_json() -> None:
    assert Health.from_json(json.loads(json.dumps(SOUND.to_json()))) == SOUND


def test_a_loop_that_stands_still_is_seen() -> None:
    async def run() -> Health:
        pulse = Pulse(asyncio.get_running_loop())
        pulse.start()
        await asyncio.sleep(0.1)
        time.sleep(0.15)  # noqa: ASYNC251 - the loop is to stand still
        await asyncio.sleep(0.1)
        pulse.stop()
        return pulse.health(Sketch(), Sketch(), 0, 0, 0)

    health = uvloop.run(run())
    assert (health.loop_lag_s.max or 0) > 0.13
    assert (health.loop_lag_s.p99 or 0) > 0.1  # each tick that was missed counts
    assert health.bottleneck is not None


@given(st.lists(st.floats(1e-7, 1e4), min_size=1, max_size=200), st.floats(0.01, 1))
def test_percentiles_of_a_sketch_are_right_within_a_few_percent(
    values: list[float], share: float
) -> None:
    sketch = Sketch()
    for value in values:
        sketch.add(value)
    ordered = sorted(values)
    true = next(value for rank, value in enumerate(ordered, 1) if rank >= share * len(values))
    found = sketch.percentile(share)
    assert found is not None
    assert max(true, 1e-6) / 1.05 <= max(found, 1e-6) <= max(true, 1e-6) * 1.05
    assert sketch.max_s == ordered[-1]


def test_merged_sketches_are_the_sketch_of_all() -> None:
    draw, whole, parts = random.Random(1), Sketch(), [Sketch(), Sketch()]
    for number in range(100):
        value = draw.expovariate(10)
        whole.add(value)
        parts[number % 2].add(value)
    parts[0].merge(Sketch.from_json(json.loads(json.dumps(parts[1].to_json()))))
    assert parts[0].counts == whole.counts
    assert (parts[0].count, parts[0].max_s) == (whole.count, whole.max_s)
    assert Sketch().percentile(0.5) is None
