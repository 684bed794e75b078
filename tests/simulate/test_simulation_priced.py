"""The cost that the loops take, against the step time that it stands for."""

import pytest

from timing_questions import LLAMA, deployed, pricer
from vramledger.errors import CannotKnow
from vramledger.ledger.account import build
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.groups import FullAttention, SlidingWindow
from vramledger.simulate.priced import step_cost, typical_of
from vramledger.simulate.rules import scheduling_rules
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.step import Batch
from vramledger.simulate.timing.work import work_of


def cost_of(model: str = LLAMA) -> StepCost:
    deployment = deployed(model=model)
    sequences = deployment.max_num_seqs.value
    return step_cost(work_of(deployment), shipped().coefficients, typical_of(3000, 200), sequences)


@pytest.mark.parametrize("model", [LLAMA, "openai/gpt-oss-120b", "Qwen/Qwen3-30B-A3B"])
@pytest.mark.parametrize(
    ("features", "batch"),
    [
        (Features(0, 0, 0, 64, 64, 64 * 2000), Batch(64, 2000)),
        (Features(0, 0, 0, 1, 1, 1900), Batch(1, 1900)),
        (Features(2048, 1, 2048 * 1024, 64, 64, 64 * 2000), Batch(64, 2000, 2048, 1024, 1)),
        (Features(8000, 1, 8000 * 4000, 0, 0, 0), Batch(0, 0, 8000, 4000, 1)),
        (Features(40, 1, 40 * 1500, 64, 64, 64 * 2000), Batch(64, 2000, 40, 1500, 1)),
        (Features(2, 1, 2 * 1500, 0, 0, 0), Batch(0, 0, 2, 1500, 1)),
    ],
)
def test_whole_nanoseconds_follow_the_step_time(
    model: str, features: Features, batch: Batch
) -> None:
    asked = pricer(model=model).seconds(batch)
    assert cost_of(model)(features) / 1e9 == pytest.approx(asked, rel=0.03)


def test_every_feature_adds_to_the_cost() -> None:
    cost = cost_of()
    plain = cost(Features(100, 1, 5000, 10, 10, 1000))
    assert cost(Features(2000, 1, 5000, 10, 10, 1000)) > plain
    assert cost(Features(100, 2, 5000, 10, 10, 1000)) > plain
    assert cost(Features(100, 1, 900_000, 10, 10, 1000)) > plain
    assert cost(Features(100, 1, 5000, 10, 10, 9000)) > plain


def test_pipeline_stages_cost_what_they_take_one_after_another() -> None:
    deployment = deployed("-pp 2")
    two = step_cost(work_of(deployment), shipped().coefficients, typical_of(3000, 200), 256)
    features = Features(0, 0, 0, 64, 64, 64 * 3000)
    assert two(features) == pytest.approx(cost_of()(features), rel=0.1)
    pool = build(deployment).pool
    assert pool is not None
    settings = settings_of(deployment, pool, prefix_caching=False)
    assert (settings.pipeline_stages, settings.steps_in_flight) == (2, 2)
    assert not settings.async_scheduling


_STAGES = (
    "Drafts that are verified over 2 pipeline stages are not simulated; simulate the launch without its draft, or "
    "with --pipeline-parallel-size 1."
)
_DRAFTS = (
    "How many drafts are accepted is not known before the server runs; state the share with "
    "--acceptance RATE (0..1), or simulate the launch without its draft."
)
_DRAFTING = '--speculative-config \'{"method": "ngram", "num_speculative_tokens": 3}\''


@pytest.mark.parametrize(("flags", "said"), [(f"-pp 2 {_DRAFTING}", _STAGES), (_DRAFTING, _DRAFTS)])
def test_what_is_not_simulated_is_refused_by_name(flags: str, said: str) -> None:
    deployment = deployed(flags)
    pool = build(deployed()).pool
    assert pool is not None
    with pytest.raises(CannotKnow) as refused:
        settings_of(deployment, pool, prefix_caching=False)
    assert str(refused.value) == said


def test_settings_are_those_of_the_deployment() -> None:
    deployment = deployed("--max-num-seqs 40 --long-prefill-token-threshold 512", version="0.32.0")
    pool = build(deployment).pool_low
    assert pool is not None
    settings = settings_of(deployment, pool, prefix_caching=True)
    assert (settings.num_blocks, settings.block_size) == (pool.num_blocks, 16)
    assert (settings.max_num_seqs, settings.token_budget) == (40, 8192)
    assert (settings.max_model_len, settings.long_prefill_threshold) == (16384, 512)
    assert settings.groups == (FullAttention(),)
    assert settings.prefix_caching
    assert settings.async_scheduling
    assert settings.rules == scheduling_rules(deployment.rules)


def test_windows_are_groups_of_their_own() -> None:
    deployment = deployed(model="openai/gpt-oss-20b", version="0.32.0")
    pool = build(deployment).pool_low
    assert pool is not None
    settings = settings_of(deployment, pool, prefix_caching=False)
    assert set(settings.groups) == {FullAttention(), SlidingWindow(128)}
