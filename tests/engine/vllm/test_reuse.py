"""Answers kept for the next card of a kind are those that would be computed for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from vramledger.engine.read import read_launch
from vramledger.engine.vllm import reuse, weights
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.engine.vllm.layouts import legality, refusals
from vramledger.engine.vllm.layouts.placement import Placement
from vramledger.engine.vllm.resolve import resolve
from vramledger.hardware.catalogue import find
from vramledger.ledger import account
from vramledger.model.load import load_model

CARDS = ("T4", "L4", "A100-80GB-SXM", "H100-80GB-SXM", "B200", "MI300X", "RTX-5090")
FLAGS = (
    "",
    "-tp 2",
    "-tp 2 -pp 2",
    "--max-num-batched-tokens 2048",
    "--kv-cache-dtype fp8",
    "--block-size 32",
    "--quantization fp8",
    "--cpu-offload-gb 4",
    "--enable-lora --max-loras 4 --max-lora-rank 32",
    "--max-model-len 4096",
    "--no-enable-prefix-caching",
    "--async-scheduling",
    "--dtype float16",
)


@pytest.mark.parametrize(
    "model",
    [
        "Qwen/Qwen3-8B",
        "openai/gpt-oss-20b",
        "google/gemma-3-27b-it",
        "deepseek-ai/DeepSeek-V2-Lite",
    ],
)
def test_weights_and_layouts_equal_those_computed_anew(model: str) -> None:
    loaded = load_model(model)
    checked = 0
    for flags in FLAGS:
        launch = read_launch(f"vllm serve {model} {flags}", version="0.33")
        if "quantization" in flags and loaded.quantization is not None:
            continue
        for card in CARDS:
            deployment = resolve(launch, loaded, find(card), version="0.33")
            stage = deployment.layout.pp - 1
            assert weights.rank_weights(deployment, stage) == weights._rank_weights(
                deployment, stage
            )
            assert account._layout(deployment, None) == layout_for(deployment)
            checked += 1
    assert checked >= len(CARDS) * (len(FLAGS) - 1)


def test_no_weight_and_no_page_reads_what_is_ignored() -> None:
    folder = Path(reuse.__file__).parent
    sources = [folder / "weights.py", folder / "stages.py", *folder.glob("resident/*.py")]
    sources += [path for path in folder.glob("kv/*.py") if path.name != "pool.py"]
    for path in sources:
        text = path.read_text(encoding="utf-8")
        read = [name for name in reuse.UNRELATED if f"deployment.{name}" in text]
        read += ["launch"] if "values_of" in text else []
        assert read == [], f"{path.name} reads what answers are kept without"


def test_another_model_under_the_same_name_is_another_question() -> None:
    launch = read_launch("vllm serve Qwen/Qwen3-8B", version="0.33")
    loaded = load_model("Qwen/Qwen3-8B")
    half = replace(loaded, tensors=loaded.tensors[: len(loaded.tensors) // 2])
    card = find("L40S")
    whole = weights.rank_weights(resolve(launch, loaded, card, version="0.33"), 0)
    part = weights.rank_weights(resolve(launch, half, card, version="0.33"), 0)
    assert part.total < whole.total


def test_refusals_name_the_card_that_was_asked() -> None:
    model = load_model("Qwen/Qwen3-8B-AWQ")
    launch = read_launch("vllm serve Qwen/Qwen3-8B-AWQ", version="0.33")
    for name in ("V100-32GB-SXM", "P40", "L4"):
        card = find(name)
        deployment = resolve(launch, model, card, version="0.33")
        found = refusals(model, deployment.layout, deployment.rules, card)
        placement = Placement(model, deployment.layout, deployment.rules, card)
        anew = legality._refused((*legality.RULES, *legality.CARD_RULES), placement)
        assert found == anew
        assert bool(found) == (name != "L4")
