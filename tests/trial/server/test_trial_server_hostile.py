"""Servers whose answers about themselves hold numbers that are none, and addresses that are none."""

import json
from typing import Any

import pytest

from metrics_samples import served
from vramledger.errors import BadInput
from vramledger.record.description import canonical
from vramledger.trial.server import ask_server
from vramledger.trial.server.asking import base_of

ODD: list[Any] = [
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "-1",
    "1" + "0" * 40,
    "true",
    '"x"',
    "null",
    "[1]",
    '{"a": 1}',
]


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("owner", ["vllm", "sglang", "llamacpp"])
def test_no_value_of_any_page_breaks_the_description(owner: str, value: str) -> None:
    fields = ("max_total_num_tokens", "total_slots", "n_ctx", "model_path", "context_length", "version", "dtype", "seed",
              "default_generation_settings", "chat_template", "build_info", "mem_fraction_static")  # fmt: skip
    anything = "{" + ", ".join(f'"{name}": {value}' for name in fields) + "}"
    config = f'{{"vllm_config": {{"model_config": {anything}, "cache_config": {anything}}}}}'
    pages = {
        "/v1/models": f'{{"data": [{{"id": "m", "owned_by": "{owner}", "max_model_len": {value}, "meta": {anything}}}]}}',
        "/version": anything,
        "/server_info?config_format=json": config,
        "/server_info": anything,
        "/get_server_info": anything,
        "/props": anything,
        "/metrics": f"sglang:max_total_num_tokens {value}\nprocess_start_time_seconds {value}\n",
    }
    with served(pages) as server:
        facts = ask_server(server.url)
        canonical(facts.deployment().model_dump(mode="json"))
    assert facts.model == "m"
    assert facts.uptime_s is None


@pytest.mark.parametrize("value", ["nan", "inf", "9" * 5000, "\u00b2", "-1"])
def test_no_label_of_the_cache_configuration_breaks_the_description(value: str) -> None:
    label = f'block_size="{value}",gpu_memory_utilization="{value}",kv_cache_size_tokens="{value}"'
    pages = {
        "/v1/models": json.dumps({"data": [{"id": "m", "owned_by": "vllm"}]}),
        "/metrics": f"vllm:cache_config_info{{{label}}} 1\n",
    }
    with served(pages) as server:
        facts = ask_server(server.url)
        canonical(facts.deployment().model_dump(mode="json"))
    assert facts.seen.kv_tokens is None


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://h:x",
        "http://h/a b",
        "unix:///a",
    ],
)
def test_an_address_that_is_none_is_said_to_be_none(url: str) -> None:
    with pytest.raises(BadInput) as refused:
        base_of(url)
    assert (
        str(refused.value)
        == f"{url} is no address of a server; give one such as http://localhost:8000."
    )


def test_no_address_at_all_is_said() -> None:
    with pytest.raises(BadInput, match=r"^An empty text is no address of a server; "):
        base_of("")
