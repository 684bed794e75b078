"""A queue that grows while a third of the cache is used: prompts bind, not memory.

Facts: https://github.com/llm-d/llm-d-autoscaling/issues/662 (an H100 with vLLM 0.14, 6,000 tokens in and
2 out at 8 requests a second, --max-num-batched-tokens 65000: waiting requests grow without end, about 20
run, and the cache reads 32 %; with 200 tokens out about 60 run).

The engine's own gauge is read after finished requests are gone, and with asynchronous scheduling a third
batch has its blocks by then: of the levels here two thirds are what the gauge shows.
"""

from collections.abc import Callable
from typing import Any

import pytest

from steady_requests import poisson

Ask = Callable[..., Any]
LAUNCH = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-batched-tokens 65000"
CARD, VERSION = "H100-80GB-SXM", "0.14.0"
BATCH = 65_000 / 6_000  # prompts a step


def test_the_queue_grows_with_most_of_the_cache_free(simulated: Ask) -> None:
    said = simulated(LAUNCH, CARD, VERSION, poisson(2_000, 8, 6_000, 2)).json
    assert said["queue_drains"] is False
    assert said["waiting"]["max"] > 100
    assert said["running"]["p50"] == pytest.approx(3 * BATCH, abs=1.5)
    assert said["kv_usage"]["p99"] * 2 / 3 == pytest.approx(0.32, abs=0.03)  # as the gauge reads it
    assert said["preemptions"] == 0
    binding = said["binding"]
    assert binding["token_budget"] > 0.9
    assert binding["kv_cache"] == binding["sequence_cap"] == 0
    theory = said["theory"]
    assert theory["saturation_requests_per_s"] < theory["offered_requests_per_s"]


def test_without_two_steps_in_flight_the_engine_runs_what_was_seen(simulated: Ask) -> None:
    launch = f"{LAUNCH} --no-async-scheduling"
    said = simulated(launch, CARD, VERSION, poisson(2_000, 8, 6_000, 2)).json
    assert said["running"]["p50"] == pytest.approx(2 * BATCH, abs=1.5)
    assert said["kv_usage"]["p50"] == pytest.approx(0.32, abs=0.03)


def test_more_memory_does_not_help_it(simulated: Ask) -> None:
    small, large = (
        simulated(f"{LAUNCH} --gpu-memory-utilization {share}", CARD, VERSION,
                  poisson(2_000, 8, 6_000, 2)).json
        for share in ("0.8", "0.95")
    )  # fmt: skip
    assert large["deployment"]["kv_blocks"] > 1.25 * small["deployment"]["kv_blocks"]
    assert large["ttft_s"]["p95"] == pytest.approx(small["ttft_s"]["p95"], rel=0.01)


def test_answers_of_200_tokens_make_it_a_matter_of_the_cache(simulated: Ask) -> None:
    said = simulated(LAUNCH, CARD, VERSION, poisson(2_000, 8, 6_000, 200)).json
    assert said["running"]["p50"] == pytest.approx(60, abs=8)
    assert said["kv_usage"]["p50"] > 0.95
    assert said["binding"]["kv_cache"] > 0.3


def test_a_prediction_names_prompts_as_what_a_token_waits_for(predicted: Ask) -> None:
    said = predicted(LAUNCH, CARD, VERSION, (6_000, 2, 20)).json
    assert said["binding"] == "neighbours' prompts"
    assert said["kv_feasible_concurrency"] > 60
