"""Two engines on one GPU: one verdict an order, about starting and the load together."""

from vramledger.engine.read import read_launch
from vramledger.ledger.case import Case
from vramledger.ledger.cotenancy import together
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.ledger.solve import Load
from vramledger.report.sharing import together_json, together_text


def half(model: str) -> Case:
    launch = read_launch(f"vllm serve {model} --max-model-len 8192 --gpu-memory-utilization 0.45")
    return Case(launch, model_of(launch), accelerator_for("H100-80GB-SXM"), "0.19.0")


LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
QWEN = "Qwen/Qwen3-8B"


def test_two_engines_that_start_and_hold_one_request_hold() -> None:
    found = together(half(LLAMA), half(QWEN), Load())
    assert [(turn.starts, turn.holds) for turn in found] == [(True, True), (True, True)]
    assert together_text(found).startswith(
        f"HOLDS: {LLAMA} first holds 37.29 GiB of each GPU; {QWEN} then starts.\n  The smallest that "
        "hold: --gpu-memory-utilization 0.23 for the first, "
    )


def test_two_engines_that_start_without_holding_the_load_say_both_in_one_verdict() -> None:
    found = together(half(LLAMA), half(QWEN), Load(40))
    assert together_text(found).splitlines()[:2] == [
        (
            f"STARTS BUT DOES NOT HOLD: {LLAMA} first holds 37.29 GiB of each GPU; {QWEN} then "
            f"starts, but {LLAMA} holds 18 of the 40 requests of 8,192 tokens and {QWEN} holds 15 "
            "of the 40 requests of 8,192 tokens."
        ),
        "  No other pair of utilizations holds both in this order either.",
    ]
    assert together_json(found)["orders"][0]["holds"] is False
