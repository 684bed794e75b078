"""Engines behind a router: who gets what, and that no way of simulating changes a figure."""

from typing import Any

import numpy as np
import pytest

from vramledger.simulate.columns import columns_of
from vramledger.simulate.engines import Arriving, Engine, _load, _plain, run_engines
from vramledger.simulate.fast.records import RECORD, STEP
from vramledger.simulate.groups import FullAttention, SlidingWindow
from vramledger.simulate.keys import spread_prefix
from vramledger.simulate.loop import simulate
from vramledger.simulate.offered import Offered
from vramledger.simulate.prefixes import no_prefixes, prefixes_of
from vramledger.simulate.request import Arrival
from vramledger.simulate.serving import Serving
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost, fixed

COST = StepCost(constant=fixed(5e6), prefill_tokens=fixed(2e4), decode_context=fixed(50))
PLAIN: dict[str, Any] = {
    "num_blocks": 60,
    "block_size": 16,
    "token_budget": 256,
    "max_num_seqs": 16,
    "max_model_len": 512,
    "async_scheduling": True,
    "prefix_caching": False,
}


def arriving(count: int = 60, seed: int = 1) -> Arriving:
    draw = np.random.Generator(np.random.PCG64(seed))
    return Arriving(
        np.cumsum(draw.integers(0, 20_000_000, count)),
        draw.integers(1, 300, count),
        draw.integers(1, 100, count),
        np.full(count, -1),
        no_prefixes(count),
    )


def play(
    settings: Settings, load: Arriving, engines: int = 1
) -> tuple[tuple[Engine, ...], list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    found = run_engines(
        settings, load, COST, engines, seed=0, progress=lambda *pair: told.append(pair)
    )
    return found, told


def test_the_compiled_and_the_plain_simulator_fill_the_same_columns() -> None:
    settings, load = Settings(**PLAIN), arriving()
    (engine,), _ = play(settings, load)
    columns = (load.arrival_ns, load.input_tokens, load.output_tokens)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    arrivals = [Arrival(at, prompt, output) for at, prompt, output in rows]
    plain = columns_of(simulate(settings, arrivals, COST))
    assert engine.compiled
    assert plain.requests["preemptions"].sum() > 0
    for name in set(RECORD.names or ()) - {"scheduled_step", "first_token_step", "last_token_step"}:
        assert (engine.found.requests[name] == plain.requests[name]).all(), name
    for name in set(STEP.names or ()) - {"number"}:
        assert (engine.found.steps[name] == plain.steps[name]).all(), name
    assert (engine.found.steps["number"] == np.arange(len(plain.steps))).all()


def test_steps_of_a_request_are_places_in_the_table_of_steps() -> None:
    (engine,), _ = play(Settings(**PLAIN), arriving())
    found = engine.found
    for name in ("first_token", "last_token"):
        ends = found.steps["end_ns"][found.requests[f"{name}_step"]]
        assert (ends == found.requests[f"{name}_ns"]).all()


def test_the_router_goes_round_in_the_order_requests_are_sent() -> None:
    engines, told = play(Settings(**PLAIN), arriving(7), engines=3)
    assert [sorted(engine.places.tolist()) for engine in engines] == [[0, 3, 6], [1, 4], [2, 5]]
    assert told[-1] == (7, 7)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_an_engine_without_requests_is_left_out() -> None:
    engines, _ = play(Settings(**PLAIN), arriving(2), engines=5)
    assert len(engines) == 2


def test_the_plain_simulator_tells_how_many_requests_have_ended() -> None:
    told: list[int] = []
    load = _load(arriving(20), np.arange(20))
    found = _plain(Settings(**PLAIN), load, COST, 0, told.append)
    assert (found.requests["output_tokens"] == load.asked["output_tokens"]).all()
    assert told[-1] == 20
    assert len(told) > 2
    assert told == sorted(told)


def offered(prefixes: list[list[int]], block_tokens: int, input_tokens: list[int]) -> Offered:
    count = len(prefixes)
    some = np.zeros(count, np.int64)
    return Offered(
        row=np.arange(count),
        due_ns=some,
        input_tokens=np.array(input_tokens),
        output_tokens=some + 1,
        session=some,
        tenant=some,
        cancel_after_ns=some - 1,
        prefix=np.array([block for one in prefixes for block in one], np.int64),
        prefix_ends=np.cumsum([len(one) for one in prefixes]),
        block_tokens=block_tokens,
        left_out=0,
    )


def test_larger_recorded_blocks_are_cut_into_the_engines() -> None:
    found = prefixes_of(offered([[7, 8], [], [9]], 32, [64, 5, 32]), 16)
    assert (found.identities.tolist(), found.lengths.tolist(), found.pieces) == (
        [7, 8, 9],
        [2, 0, 1],
        2,
    )
    assert spread_prefix((7, 8), 32, 16) == (14, 15, 16, 17)


@pytest.mark.parametrize(("recorded", "size"), [(8, 16), (24, 16), (10, 16), (16, 272), (512, 272)])
def test_other_blocks_are_shared_as_far_as_prompts_are_known_to_be_alike(
    recorded: int, size: int
) -> None:
    tokens = 5440
    whole = tokens // recorded
    common = [list(range(whole)), [*range(whole // 2), *range(1000, 1000 + whole - whole // 2)]]
    found = prefixes_of(offered(common, recorded, [tokens, tokens]), size)
    first, second = np.split(found.identities, np.cumsum(found.lengths)[:-1])
    assert found.lengths.tolist() == [whole * recorded // size] * 2
    assert len(set(first.tolist())) == len(first)
    same = first == second
    assert same.tolist() == [(k + 1) * size <= whole // 2 * recorded for k in range(len(first))]


def test_a_block_that_the_prompt_does_not_fill_is_left_out() -> None:
    found = prefixes_of(offered([[1, 2]], 16, [31]), 16)
    assert found.identities.tolist() == [1]


def test_the_prefix_cache_saves_work_in_either_simulator() -> None:
    count, load = 30, arriving(30)
    same = offered([[1, 2, 3, 4]] * count, 32, [200] * count)
    shared = Arriving(
        load.arrival_ns, same.input_tokens, load.output_tokens, same.cancel_after_ns,
        prefixes_of(same, 16),
    )  # fmt: skip
    for groups in ((FullAttention(),), (FullAttention(), SlidingWindow(10_000))):
        settings = Settings(
            **{**PLAIN, "num_blocks": 400, "prefix_caching": True, "groups": groups}
        )
        (engine,), _ = play(settings, shared)
        assert engine.found.requests["hit_tokens"][0] == 0
        assert engine.found.requests["hit_tokens"].max() == 128


def routed(
    load: Arriving, engines: int, router: str, closed: int | None = None
) -> tuple[Engine, ...]:
    return run_engines(
        Settings(**PLAIN), load, COST, engines, seed=0, progress=lambda *_: None,
        serving=Serving(router, closed),
    )  # fmt: skip


def test_every_router_sends_each_request_to_one_engine() -> None:
    load = arriving(80)
    for router in ("round-robin", "least-loaded", "prefix-aware"):
        for closed in (None, 5):
            engines = routed(load, 3, router, closed)
            places = np.sort(np.concatenate([engine.places for engine in engines]))
            assert places.tolist() == list(range(80))
            assert all(len(one.places) == len(one.found.requests) for one in engines)
            assert all((one.due_ns is None) == (closed is None) for one in engines)


def test_the_least_loaded_engine_spares_requests_a_queue() -> None:
    load = arriving(300, seed=3)
    waits = {}
    for router in ("round-robin", "least-loaded"):
        found = [engine.found.requests for engine in routed(load, 4, router)]
        waits[router] = sum(int((one["scheduled_ns"] - one["queued_ns"]).sum()) for one in found)
    assert waits["least-loaded"] < waits["round-robin"]


def test_one_engine_needs_no_router() -> None:
    load = arriving(30)
    (alone,), (sent,) = routed(load, 1, "round-robin"), routed(load, 1, "prefix-aware")
    assert alone.found.requests.tolist() == sent.found.requests.tolist()
