"""Prompts that share nothing: what a prefix cache that is on changes, and what it does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from vramledger.simulate.engines import Arriving, Engine, run_engines
from vramledger.simulate.groups import FullAttention, RecurrentState, SlidingWindow
from vramledger.simulate.on_engines import any_preempted, off_is_alike
from vramledger.simulate.prefixes import no_prefixes
from vramledger.simulate.serving import PLAIN, Serving
from vramledger.simulate.settings import Order, Settings
from vramledger.simulate.step_cost import StepCost, fixed

COST = StepCost(constant=fixed(100), prefill_tokens=fixed(7), decode_context=fixed(0.05))
CACHED = Settings(
    num_blocks=60, block_size=4, token_budget=32, max_num_seqs=5, max_model_len=120
)  # fmt: skip


def arriving(gaps: list[int], inputs: list[int], outputs: list[int], leave: list[int]) -> Arriving:
    count = len(gaps)
    return Arriving(
        np.cumsum(np.array(gaps, np.int64)),
        np.array(inputs, np.int64),
        np.array(outputs, np.int64),
        np.array(leave, np.int64),
        no_prefixes(count),
    )


def served(settings: Settings, load: Arriving, serving: Serving = PLAIN) -> tuple[Engine, ...]:
    return run_engines(
        settings, load, COST, 2, seed=0, progress=lambda _done, _all: None, serving=serving
    )


def pauses(engine: Engine) -> list[Any]:
    assert engine.found.pauses is not None
    found: list[Any] = engine.found.pauses.tolist()
    return found


def same(left: tuple[Engine, ...], right: tuple[Engine, ...]) -> bool:
    return all(
        (a.found.requests == b.found.requests).all()
        and len(a.found.steps) == len(b.found.steps)
        and (a.found.steps == b.found.steps).all()
        and pauses(a) == pauses(b)
        and a.found.stuck == b.found.stuck
        for a, b in zip(left, right, strict=True)
    )


@st.composite
def loads(draw: st.DrawFn) -> Arriving:
    count = draw(st.integers(1, 20))

    def some(least: int, most: int) -> list[int]:
        return draw(st.lists(st.integers(least, most), min_size=count, max_size=count))

    leave = some(0, 4_000) if draw(st.booleans()) else [-1] * count
    return arriving(some(0, 900), some(1, 130), some(1, 40), leave)


SERVERS = st.builds(
    Settings,
    num_blocks=st.integers(20, 120),
    block_size=st.sampled_from([4, 16]),
    token_budget=st.integers(5, 64),
    max_num_seqs=st.integers(1, 5),
    max_model_len=st.just(120),
    order=st.sampled_from(list(Order)),
    long_prefill_threshold=st.sampled_from([0, 8]),
    async_scheduling=st.booleans(),
)
WAYS = st.sampled_from([PLAIN, Serving(router="least-loaded"), Serving(closed=3)])


@examples(max_examples=150)
@given(SERVERS, loads(), WAYS)
def test_without_preemption_a_cache_that_nobody_shares_changes_nothing(
    settings: Settings, load: Arriving, serving: Serving
) -> None:
    assert off_is_alike(settings)
    off = served(replace(settings, prefix_caching=False), load, serving)
    on = served(settings, load, serving)
    assert any_preempted(off) == any_preempted(on)
    if not any_preempted(off):
        assert same(off, on)


def test_with_preemption_it_does() -> None:
    load = arriving([0] * 12, [60] * 12, [50] * 12, [-1] * 12)
    off, on = served(replace(CACHED, prefix_caching=False), load), served(CACHED, load)
    assert any_preempted(off)
    assert any_preempted(on)

    def again(engines: tuple[Engine, ...]) -> Any:
        return sum(engine.found.requests["recomputed_tokens"].sum() for engine in engines)

    assert 0 < again(on) < again(off)
    assert all((engine.found.requests["hit_tokens"] == 0).all() for engine in on)


@pytest.mark.parametrize(
    "other",
    [
        {"groups": (FullAttention(), SlidingWindow(32))},
        {"groups": (FullAttention(), RecurrentState(0))},
        {"pipeline_stages": 2, "async_scheduling": False},
        {"prefix_caching": False},
    ],
)
def test_where_a_cache_counts_anyway_it_is_on_from_the_start(other: dict[str, Any]) -> None:
    assert not off_is_alike(replace(CACHED, **other))
