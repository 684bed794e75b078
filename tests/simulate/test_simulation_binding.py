"""What limits the steps of a simulation: requests that wait, and the physical limit beneath."""

import numpy as np
import pytest

from timing_questions import LLAMA, deployed, pricer
from vramledger.simulate.binding import BATCH, IDLE, KV, SEQUENCES, TOKENS, binding_of
from vramledger.simulate.fast.records import STEP
from vramledger.simulate.priced import typical_of
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_limits import (
    BANDWIDTH,
    COMPUTE,
    LAUNCHES,
    LINKS,
    PHYSICAL,
    PhysicalLimits,
    limits_of,
)
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.step import KINDS, Batch, StepLimits
from vramledger.simulate.timing.work import work_of

SETTINGS = Settings(
    num_blocks=101, block_size=16, token_budget=4000, max_num_seqs=4, max_model_len=1000
)
BATCHES = [
    (
        Batch(1, 100),
        {"decode_tokens": 1, "decode_requests": 1, "decode_context": 100},
    ),
    (
        Batch(64, 2000),
        {"decode_tokens": 64, "decode_requests": 64, "decode_context": 128_000},
    ),
    (
        Batch(64, 2000, 2048, 1024, 1),
        {
            "decode_tokens": 64,
            "decode_requests": 64,
            "decode_context": 128_000,
            "prefill_tokens": 2048,
            "prefill_requests": 1,
            "prefill_pairs": 2048 * 1024,
        },
    ),
    (
        Batch(0, 0, 2000, 1000, 1),
        {"prefill_tokens": 2000, "prefill_requests": 1, "prefill_pairs": 2_000_000},
    ),
]


def limits(flags: str = "", model: str = LLAMA, card: str = "H100-80GB-SXM") -> PhysicalLimits:
    deployment = deployed(flags, model, card)
    sequences = deployment.max_num_seqs.value
    typical = typical_of(3000, 200)
    return limits_of(work_of(deployment), shipped().coefficients, typical, sequences)


def steps(*rows: dict[str, int]) -> "np.ndarray[tuple[int], np.dtype[np.void]]":
    found = np.zeros(len(rows), STEP)
    for number, row in enumerate(rows):
        for name, value in row.items():
            found[number][name] = value
    return found


@pytest.mark.parametrize("batch", [batch for batch, _ in BATCHES])
@pytest.mark.parametrize("model", [LLAMA, "openai/gpt-oss-120b", "Qwen/Qwen3-30B-A3B"])
def test_the_limits_of_a_step_add_up_to_its_length(model: str, batch: Batch) -> None:
    priced = pricer(model=model)
    assert sum(priced.limits(batch).parts().values()) == pytest.approx(priced.seconds(batch))
    each = [sum(priced.limits(batch, {kind}).parts().values()) for kind in KINDS]
    assert sum(each) == pytest.approx(priced.seconds(batch))


@pytest.mark.parametrize("model", [LLAMA, "openai/gpt-oss-120b", "Qwen/Qwen3-30B-A3B"])
def test_tables_say_of_many_steps_what_the_step_time_says_of_one(model: str) -> None:
    priced = pricer(model=model)
    asked = [priced.limits(batch) for batch, _ in BATCHES]
    found = limits(model=model)
    seconds = found.seconds(steps(*(row for _, row in BATCHES)))
    assert seconds.sum(axis=1) == pytest.approx([_total(each) for each in asked], rel=0.03)
    largest = [max(each.parts(), key=each.parts().__getitem__) for each in asked]
    told = found.of(steps(*(row for _, row in BATCHES)))
    assert [PHYSICAL[place] for place in told] == largest


def _total(each: StepLimits) -> float:
    return sum(each.parts().values())


def test_a_prompt_is_bound_by_compute_and_a_few_decodes_by_bandwidth() -> None:
    found = limits().of(steps(*(row for _, row in BATCHES)))
    assert [PHYSICAL[place] for place in found] == [BANDWIDTH, BANDWIDTH, COMPUTE, COMPUTE]


def test_a_small_model_in_eager_mode_is_bound_by_launches() -> None:
    found = limits("--enforce-eager", "Qwen/Qwen3-0.6B").of(steps(BATCHES[0][1]))
    assert PHYSICAL[found[0]] == LAUNCHES


def test_ranks_that_meet_over_pcie_are_bound_by_links() -> None:
    found = limits("-tp 4", card="L40S").of(steps(BATCHES[3][1]))
    assert PHYSICAL[found[0]] == LINKS


def test_every_step_has_one_limit_and_the_physical_one_beneath() -> None:
    decode, prompt = BATCHES[1][1], BATCHES[3][1]
    rows = steps(
        {**decode, "running": 4, "waiting": 2},
        {**prompt, "running": 3, "waiting": 1, "prefill_tokens": 4000},
        {**decode, "running": 3, "waiting": 1},
        {**decode, "running": 3, "preempted": 1},
        {**decode, "running": 1},
        {**prompt, "running": 1},
    )
    lasted = np.array([60.0, 10, 10, 5, 4, 1])
    found = binding_of(rows, lasted, 10.0, SETTINGS, limits())
    assert found.shares == pytest.approx(
        {
            KV: 0.15, SEQUENCES: 0.6, TOKENS: 0.1, BATCH: 0, BANDWIDTH: 0.04, COMPUTE: 0.01, LINKS: 0,
            LAUNCHES: 0, IDLE: 0.1,
        }
    )  # fmt: skip
    assert sum(found.shares.values()) == pytest.approx(1)
    for name, parts in found.beneath.items():
        assert sum(parts.values()) == pytest.approx(found.shares[name])
    assert found.beneath[TOKENS][COMPUTE] == pytest.approx(0.1)
    assert found.beneath[SEQUENCES][BANDWIDTH] == pytest.approx(0.6)


def test_a_budget_spent_while_preempted_requests_compute_again_is_spent_for_want_of_cache() -> None:
    prompt = {**BATCHES[3][1], "prefill_tokens": 4000, "running": 3, "waiting": 1}
    rows, lasted = steps(prompt, prompt, {**prompt, "waiting": 0}), np.array([3.0, 1.0, 1.0])
    recovers = np.array([True, False, True])
    found = binding_of(rows, lasted, 0.0, SETTINGS, limits(), recovers=recovers)
    assert found.shares[KV] == found.beneath[KV][COMPUTE] == 0.6
    assert found.shares[TOKENS] == found.shares[COMPUTE] == 0.2


def test_requests_wait_for_a_static_batch_alone() -> None:
    rows = steps({**BATCHES[1][1], "running": 4, "waiting": 2}, {**BATCHES[3][1], "running": 1})
    found = binding_of(rows, np.array([3.0, 1.0]), 0.0, SETTINGS, limits(), batched=True)
    assert found.shares[BATCH] == found.beneath[BATCH][BANDWIDTH] == 0.75
    assert found.shares[COMPUTE] == 0.25
