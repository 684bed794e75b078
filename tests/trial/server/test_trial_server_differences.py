"""Asked for against in effect, and emptying the prefix cache."""

import json
from typing import Any

import pytest

from metrics_samples import served
from vramledger.record.document import Deployment
from vramledger.trial.server import ask_server
from vramledger.trial.server.differences import differences
from vramledger.trial.server.reset import Reset, reset_prefix_cache


def test_each_difference_is_a_sentence_that_names_the_field() -> None:
    asked = Deployment(
        engine="vllm",
        engine_version="0.33",
        model="org/Big-Model",
        driver="580.65.06",
        arguments={"max-model-len": 32768, "max-num-seqs": 64},
    )
    got = Deployment(
        engine="vLLM",
        engine_version="0.32.0",
        model="/models/small-model",
        arguments={"max_model_len": 8192, "max-num-seqs": 64},
    )
    assert differences(asked, got) == (
        "The engine's version asked for is 0.33, and in effect it is 0.32.0 (engine_version).",
        "The model asked for is org/Big-Model, and in effect it is /models/small-model (model).",
        "--max-model-len was asked for as 32768, and in effect it is 8192 (arguments.max-model-len).",
    )


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        (0.9, "0.9"),
        (True, "true"),
        ("auto", "fp8"),
        (None, 5),
        ("8192", 8192.0),
        ("FP8", "fp8"),
        ("4M", 4194304),
        ("32k", "32000"),
    ],
)
def test_the_same_in_other_words_is_no_difference(wanted: Any, got: Any) -> None:
    one, other = Deployment(arguments={"x-y": wanted}), Deployment(arguments={"x_y": got})
    assert differences(one, other) == ()


@pytest.mark.parametrize(
    ("wanted", "got", "found"),
    [("0.33", "0.33.0", 0), ("0.3", "0.33.0", 1), ("v0.33.0", "0.33.0", 0)],
)
def test_a_version_may_be_asked_for_in_part(wanted: str, got: str, found: int) -> None:
    asked, in_effect = Deployment(engine_version=wanted), Deployment(engine_version=got)
    assert len(differences(asked, in_effect)) == found


def test_what_nobody_told_is_not_compared() -> None:
    assert differences(Deployment(model="a", arguments={"b": 1}), Deployment()) == ()


def models(owner: str) -> str:
    return json.dumps({"data": [{"id": "demo", "owned_by": owner}]})


def test_the_prefix_cache_is_emptied_where_the_server_can() -> None:
    with served({"/v1/models": models("vllm")}, posts={"/reset_prefix_cache": 200}) as server:
        assert reset_prefix_cache(ask_server(server.url, "k"), "k") == Reset(True)
        assert server.asked[-1] == ("POST", "/reset_prefix_cache", "Bearer k")
    with served({"/v1/models": models("sglang")}, posts={"/flush_cache": 200}) as server:
        assert reset_prefix_cache(ask_server(server.url)) == Reset(True)


@pytest.mark.parametrize(
    ("owner", "why"),
    [
        (
            "vllm",
            (
                "The prefix cache was not emptied (/reset_prefix_cache: it answers 404); start vLLM with "
                "VLLM_SERVER_DEV_MODE=1 to have /reset_prefix_cache."
            ),
        ),
        (
            "sglang",
            (
                "The prefix cache was not emptied (/flush_cache: it answers 404); flush SGLang while no "
                "request is running."
            ),
        ),
        (
            "llamacpp",
            (
                "This server's prefix cache cannot be emptied from outside; llama.cpp has no way to drop "
                "all cached prompts; use fresh prompts."
            ),
        ),
        (
            "someone",
            (
                "This server's prefix cache cannot be emptied from outside; fresh prompts keep it from "
                "mattering."
            ),
        ),
    ],
)
def test_a_cache_that_was_not_emptied_says_why(owner: str, why: str) -> None:
    with served({"/v1/models": models(owner)}) as server:
        assert reset_prefix_cache(ask_server(server.url)) == Reset(False, why)
