"""Which models think before they answer, by name."""

import re

import pytest

from vramledger.model import catalogue
from vramledger.model.thinking import families, thinking_of


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("deepseek-ai/DeepSeek-R1", "DeepSeek-R1"),
        ("nvidia/DeepSeek-R1-NVFP4", "DeepSeek-R1"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "DeepSeek-R1"),
        ("Qwen/QwQ-32B-AWQ", "QwQ"),
        ("Qwen/Qwen3-32B", "Qwen3 hybrid"),
        ("Qwen/Qwen3-30B-A3B-FP8", "Qwen3 hybrid"),
        ("hf:Qwen/Qwen3-0.6B", "Qwen3 hybrid"),
        ("Qwen/Qwen3.5-397B-A17B", "Qwen3.5 and later"),
        ("Qwen/Qwen3-235B-A22B-Thinking-2507", "models named Thinking"),
        ("openai/gpt-oss-20b", "gpt-oss"),
        ("zai-org/GLM-4.5-Air", "GLM-4.5 and later"),
        ("zai-org/GLM-5.1-FP8", "GLM-4.5 and later"),
        ("moonshotai/Kimi-K2-Thinking", "models named Thinking"),
        ("MiniMaxAI/MiniMax-M1-80k", "MiniMax-M1, M2 and later"),
        ("mistralai/Magistral-Small-2506", "Magistral"),
        ("microsoft/Phi-4-mini-reasoning", "models named Reasoning"),
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", "Nemotron Nano 2 and Nemotron 3"),
        ("ByteDance-Seed/Seed-OSS-36B-Instruct", "Seed-OSS"),
        ("allenai/Olmo-3-32B-Think", "models named Thinking"),
        ("/models/Qwen3-8B/", "Qwen3 hybrid"),
    ],
)
def test_models_that_think_by_default(name: str, family: str) -> None:
    found = thinking_of(name)
    assert found is not None
    assert found.title == family


@pytest.mark.parametrize(
    "name",
    [
        "Qwen/Qwen3-235B-A22B-Instruct-2507", "Qwen/Qwen3-8B-Base", "Qwen/Qwen3-Embedding-8B",
        "Qwen/Qwen3-Coder-30B-A3B-Instruct", "Qwen/Qwen3-VL-8B-Instruct", "Qwen/Qwen2.5-72B-Instruct",
        "deepseek-ai/DeepSeek-V3.2", "meta-llama/Llama-3.3-70B-Instruct", "zai-org/GLM-4-32B-0414",
        "moonshotai/Kimi-K2-Instruct", "MiniMaxAI/MiniMax-Text-01", "google/gemma-4-31B",
        "someone/unthinkable-7b",
    ],
)  # fmt: skip
def test_models_that_do_not(name: str) -> None:
    assert thinking_of(name) is None


def test_every_family_has_a_source_and_a_way_to_switch_it_off_or_none_at_all() -> None:
    for family in families():
        assert family.source
        assert bool(family.off) != family.always, family.title
        assert re.compile(family.name)


def test_every_family_but_one_is_met_in_the_catalogue() -> None:
    met = {found.title for name in catalogue.ids() if (found := thinking_of(name)) is not None}
    assert {family.title for family in families()} - met == {"Magistral"}
