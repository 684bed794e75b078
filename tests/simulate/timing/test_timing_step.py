"""A step's time: physics that must hold whatever the coefficients are."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing_questions import deployed, pricer
from vramledger.simulate.timing.arithmetic import Format
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.step import Batch, Pricer
from vramledger.simulate.timing.work import work_of

MIXTURE = "Qwen/Qwen3-30B-A3B"


@given(
    decodes=st.integers(1, 500),
    context=st.integers(1, 16_000),
    prompt=st.integers(0, 8000),
    more=st.sampled_from(["decodes", "context", "prompt_tokens"]),
)
def test_more_work_never_takes_less_time(
    decodes: int, context: int, prompt: int, more: str
) -> None:
    batch = Batch(decodes, context, prompt, prompt / 2, 1 if prompt else 0)
    larger = replace(batch, **{more: getattr(batch, more) + 100.0})
    for priced in (pricer(), pricer(model=MIXTURE)):
        assert priced.seconds(larger) >= priced.seconds(batch) * (1 - 1e-12)


def test_the_parts_of_a_step_add_up_to_it() -> None:
    step = pricer().step(Batch(32, 1000, 900, 450, 1))
    assert step.total == pytest.approx(sum(step.parts().values()))
    assert all(seconds >= 0 for seconds in step.parts().values())


@given(
    decodes=st.integers(0, 500),
    context=st.integers(0, 16_000),
    prompt=st.integers(0, 8000),
    model=st.sampled_from(["meta-llama/Llama-3.1-8B", MIXTURE, "openai/gpt-oss-120b"]),
)
def test_the_length_of_a_step_is_the_sum_of_its_parts_and_of_what_it_waits_for(
    decodes: int, context: int, prompt: int, model: str
) -> None:
    priced = pricer(model=model)
    batch = Batch(decodes, context, prompt, prompt / 2, 1 if prompt else 0)
    seconds = priced.seconds(batch)
    assert seconds == priced.step(batch).total
    assert sum(priced.limits(batch).parts().values()) == pytest.approx(seconds, rel=1e-12)


def test_one_decode_reads_every_weight_at_the_reached_share_of_the_bandwidth() -> None:
    c = shipped().coefficients
    step = pricer().step(Batch(1, 1))
    layers = 32 * (4096 * (4096 + 2 * 1024) + 4096 * 4096 + 3 * 4096 * 14336)
    assert step.weights == pytest.approx(2 * layers / (3.35e12 * c.dense_read), rel=0.02)
    assert step.head == pytest.approx(2 * 4096 * 128256 / (3.35e12 * c.dense_read), rel=0.02)


def test_a_decode_reads_keys_and_values_of_its_whole_context() -> None:
    c = shipped().coefficients
    near, far = (pricer().step(Batch(8, context)).cache for context in (1000, 2000))
    each = 32 * 2 * 8 * 128 * 2 / (3.35e12 * c.cache_read)
    assert far - near == pytest.approx(8 * 1000 * each, rel=0.01)


def test_a_window_stops_the_reads_of_its_layers() -> None:
    priced = pricer(model="openai/gpt-oss-120b")
    near, far, farther = (priced.step(Batch(8, tokens)).cache for tokens in (64, 1064, 2064))
    assert far - near > farther - far  # half of the layers read 128 tokens at most
    assert 2 * (farther - far) == pytest.approx(2 * (far - near) - 64 / 1000 * (farther - far) * 2)


def test_a_recurrent_state_costs_the_same_at_any_context() -> None:
    priced = pricer(model="AntonV/mamba2-2.7b-hf")
    near, far = (priced.step(Batch(8, tokens)).cache for tokens in (100, 10_000))
    assert near == far > 0


def test_experts_reached_follow_from_the_tokens_of_a_batch() -> None:
    priced = pricer(model=MIXTURE)
    one, many = (priced.step(Batch(tokens, 1)).experts for tokens in (1, 4000))
    resident = priced.work.stages[0].weights.experts[0]
    c = shipped().coefficients
    read = resident.layers * resident.bytes / (priced.work.bandwidth * c.expert_read)
    assert one >= 8 * read
    assert one == pytest.approx(8 * read, rel=0.1)  # eight of 128, with hardly any arithmetic
    assert many > 128 * read


def test_twice_the_ranks_halve_the_weights_and_add_reductions() -> None:
    two, four = (pricer(f"-tp {tp}").step(Batch(1, 1)) for tp in (2, 4))
    assert four.weights == pytest.approx(two.weights / 2, rel=0.02)
    assert four.links > two.links > 0 == pricer().step(Batch(1, 1)).links


def test_stages_of_a_pipeline_read_the_same_weights_between_them() -> None:
    one, two = (pricer(f"-pp {pp}").step(Batch(4, 100)) for pp in (1, 2))
    assert two.weights == pytest.approx(one.weights)
    assert two.cache == pytest.approx(one.cache)


def test_expert_parallel_replicas_exchange_tokens_and_dense_ones_do_not() -> None:
    experts = pricer("-dp 4 --enable-expert-parallel", MIXTURE).step(Batch(16, 100))
    assert experts.links > 0
    assert pricer("-dp 4").step(Batch(16, 100)).links == 0


def test_a_step_without_graphs_is_not_faster_than_its_launches() -> None:
    c = shipped().coefficients
    eager = pricer("--enforce-eager")
    kernels = eager.work.stages[0].launches.kernels
    batch = Batch(1, 10)
    assert eager.seconds(batch) >= kernels * c.eager_kernel_us * 1e-6
    assert eager.seconds(batch) > pricer().seconds(batch)


def test_the_card_decides_in_which_format_it_multiplies() -> None:
    def formats(card: str) -> set[Format]:
        work = work_of(deployed(model="nvidia/Qwen3-32B-NVFP4", card=card))
        return {group.arithmetic.format for group in work.stages[0].weights.dense}

    assert formats("B200") == {Format.FP4}
    assert formats("H100-80GB-SXM") == {Format.WEIGHT_ONLY}


def test_synchronous_scheduling_adds_to_every_step() -> None:
    work, c = pricer().work, shipped().coefficients
    slow = Pricer(replace(work, synchronous=True), c)
    fast = Pricer(replace(work, synchronous=False), c)
    batch = Batch(4, 100)
    assert slow.seconds(batch) - fast.seconds(batch) == pytest.approx(c.synchronous_us * 1e-6)
