"""The played loop: against the closed form, and where the cache runs full."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing_questions import deployed, pricer
from vramledger.simulate.timing.capacity import Capacity
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.outlook import closed_form, outlook, prepare
from vramledger.simulate.timing.replay import Replay
from vramledger.simulate.timing.step import Batch

WIDE = Capacity(1024)
DELAY = 0.02


def test_a_single_request_takes_its_prefill_and_its_steps() -> None:
    priced = pricer()
    played = Replay(priced, Load(1000, 100, 1, 1), WIDE, DELAY).play()
    prompt, output = 981, 103  # the first lengths of the spread
    prefill = priced.seconds(Batch(0, 0, prompt, prompt / 2, 1))
    assert played.ttft == pytest.approx(DELAY + prefill)
    decode = sum(priced.seconds(Batch(1, prompt + k)) for k in range(output - 1))
    assert played.tpot == pytest.approx(decode / (output - 1), rel=1e-9)
    assert played.tokens == output


@pytest.mark.parametrize("concurrency", [1, 8, 64])
@pytest.mark.parametrize("model", ["meta-llama/Llama-3.1-8B", "openai/gpt-oss-20b"])
def test_the_played_loop_and_the_closed_form_agree_where_nothing_waits(
    concurrency: int, model: str
) -> None:
    prepared, c = prepare(deployed(model=model)), shipped().coefficients
    load = Load(1000, 1000, concurrency)
    played, formula = outlook(prepared, load, c), closed_form(prepared, load, c)
    assert played.tpot == pytest.approx(formula.tpot, rel=0.05)
    assert played.ttft == pytest.approx(formula.waits.total, rel=0.25)


@given(
    prompt=st.integers(1, 3000),
    output=st.integers(1, 300),
    concurrency=st.integers(1, 24),
    rounds=st.integers(1, 4),
    total=st.one_of(st.just(inf), st.floats(4000, 40_000)),
    sequences=st.integers(1, 16),
)
def test_every_request_is_answered_whatever_the_room(
    prompt: int, output: int, concurrency: int, rounds: int, total: float, sequences: int
) -> None:
    load = Load(prompt, output, concurrency, concurrency * rounds)
    capacity = Capacity(sequences, total, 0.0, 1.0)
    replay = Replay(pricer(), load, capacity, DELAY)
    played = replay.play()
    assert replay.done == concurrency * rounds
    assert replay.context == pytest.approx(0, abs=1e-6)
    assert replay.held == pytest.approx(0, abs=1e-6)
    assert replay.count == 0
    assert not replay.admitted
    assert played.ttft >= DELAY
    assert played.running <= sequences + 1e-9


def test_requests_wait_for_a_cache_that_holds_but_a_few() -> None:
    load = Load(1000, 1000, 32, 320)
    tight = Replay(pricer(), load, Capacity(1024, 16_000.0, 0.0, 1.0), DELAY).play()
    wide = Replay(pricer(), load, WIDE, DELAY).play()
    assert wide.waiting < 0.2
    assert tight.waiting > 15
    assert tight.ttft > 20 * wide.ttft
    assert tight.preemptions > 0 == wide.preemptions


def test_littles_law_holds_in_the_played_loop() -> None:
    load = Load(1000, 500, 40, 400)
    played = Replay(pricer(), load, Capacity(1024, 20_000.0, 0.0, 1.0), 0.0).play()
    rate = load.requests / played.seconds
    life = played.ttft + played.tpot * 499
    assert rate * life == pytest.approx(played.running + played.waiting, rel=0.05)


def test_no_more_sequences_run_than_the_engine_allows() -> None:
    played = Replay(pricer(), Load(500, 200, 64, 640), Capacity(8), DELAY).play()
    assert played.running == pytest.approx(8, rel=0.05)


def test_a_short_run_pays_more_for_its_opening_burst() -> None:
    short = Replay(pricer(), Load(2000, 200, 32, 64), WIDE, DELAY).play()
    long = Replay(pricer(), Load(2000, 200, 32, 1600), WIDE, DELAY).play()
    assert short.ttft > 1.5 * long.ttft


def test_the_same_question_gets_the_same_bits() -> None:
    load, capacity = Load(1500, 300, 20, 100), Capacity(64, 20_000.0, 3.0, 1.0)
    assert (
        Replay(pricer(), load, capacity, DELAY).play()
        == Replay(pricer(), load, capacity, DELAY).play()
    )


def test_a_run_that_preempts_is_the_same_to_the_last_bit_when_it_is_played_again() -> None:
    load, capacity = Load(200, 400, 64, 640), Capacity(64, 9000.0, 0.0, 1.0)
    first = Replay(pricer(), load, capacity, DELAY).play()
    kept = [[object()] for _ in range(1000)]  # so that the next run's objects lie elsewhere
    again = Replay(pricer(), load, capacity, DELAY).play()
    assert first.preemptions > 100
    assert first == again
    assert kept


@pytest.mark.parametrize("total", [3000.0, 9000.0, 20_000.0])
def test_entries_of_the_evicted_are_dropped_as_those_that_decode_grow_few(total: float) -> None:
    replay = Replay(pricer(), Load(20, 2000, 256, 512), Capacity(256, total, 0.0, 1.0), DELAY)
    played = replay.play()
    assert played.preemptions > 500
    assert played.tokens == sum(
        max(
            1,
            round(2000 * (1 + (2 * ((k * 0.6180339887498949 + 0.6180339887498949) % 1.0) - 1) / 9)),
        )
        for k in range(512)
    )
    assert not replay.admitted
    assert replay.count == 0
