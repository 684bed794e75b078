"""Two engines on one GPU: by version, the second is charged for the first or is not."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]
LARGE = "vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 4096 --gpu-memory-utilization "
SMALL = "vllm serve Qwen/Qwen2.5-1.5B-Instruct --max-model-len 4096 --gpu-memory-utilization "
CARD = "A100-80GB-SXM"


def test_up_to_0_9_0_the_utilization_is_cumulative(ledger: Ask) -> None:
    said = ledger(f"{LARGE}0.45", CARD, "0.8.5", "--beside", f"{SMALL}0.45", "--json")
    assert said.code == 1
    for order in said.json["orders"]:
        assert order["starts"] is False
        assert "No memory is left for the KV cache" in order["reason"]
        assert order["second_is_cumulative"] is True
        # What the first holds is spent before the second has anything.
        assert order["second_utilization"] > order["first_utilization"]


def test_from_0_9_1_each_counts_its_own(ledger: Ask) -> None:
    said = ledger(f"{LARGE}0.45", CARD, "0.10.0", "--beside", f"{SMALL}0.45", "--json")
    assert said.code == 0
    first, second = said.json["orders"]
    assert first["starts"]
    assert second["starts"]
    assert first["second_is_cumulative"] is False
    # The same pair of shares, whichever starts first.
    assert first["first_utilization"] == second["second_utilization"]
    assert first["second_utilization"] == second["first_utilization"]


@pytest.mark.parametrize("version", ["0.8.5", "0.10.0"])
def test_the_fractions_given_do_start(ledger: Ask, version: str) -> None:
    order = ledger(f"{LARGE}0.45", CARD, version, "--beside", f"{SMALL}0.45", "--json").json[
        "orders"
    ][0]
    shares = order["first_utilization"], order["second_utilization"]
    said = ledger(f"{LARGE}{shares[0]}", CARD, version, "--beside", f"{SMALL}{shares[1]}", "--json")
    assert said.json["orders"][0]["starts"] is True
    less = round(shares[1] - 0.01, 2)
    said = ledger(f"{LARGE}{shares[0]}", CARD, version, "--beside", f"{SMALL}{less}", "--json")
    assert said.json["orders"][0]["starts"] is False


def test_two_halves_that_are_too_large_fail_the_start_up_check(ledger: Ask) -> None:
    said = ledger(f"{LARGE}0.55", CARD, "0.10.0", "--beside", f"{SMALL}0.5")
    assert said.code == 1
    assert "The start-up check fails: utilization 0.5 asks for " in said.text
    assert "once the driver and other processes have taken theirs; use at most 0.4" in said.text
    assert "Start the second only when the first serves: " in said.text


def test_memory_of_other_processes_can_be_stated(ledger: Ask) -> None:
    old = ledger(f"{SMALL}0.5", CARD, "0.8.5", "--used-gib", "20", "--json")
    new = ledger(f"{SMALL}0.5", CARD, "0.10.0", "--used-gib", "20", "--json")
    free = ledger(f"{SMALL}0.5", CARD, "0.8.5", "--json")
    pools = [answer.json["ranks"][0]["kv_cache_gib"]["value"] for answer in (free, old)]
    assert pools[0] - pools[1] == pytest.approx(20.0)
    assert old.finding("A15")["effect_gib"] == -20
    assert old.finding("A15")["message"] == (
        "This version charges the 20.00 GiB of other processes to this engine: its utilization is "
        "cumulative, so 0.25 of it are spent before the engine has anything. Versions from 0.9.1 "
        "on count only their own memory."
    )
    assert "A15" not in new.finding_ids
    charged = [
        sum(new.json["ranks"][0][f"{key}_gib"]["value"] for key in KEYS),
        sum(old.json["ranks"][0][f"{key}_gib"]["value"] for key in KEYS),
    ]
    budgets = [answer.json["ranks"][0]["budget_gib"]["value"] for answer in (new, old)]
    assert charged == pytest.approx(budgets, abs=0.01)


KEYS = (
    "weights", "activation", "non_torch", "cuda_graph", "state", "draft", "lora", "encoder",
    "kv_cache", "margin",
)  # fmt: skip


def test_a_version_without_a_check_says_that_memory_is_not_free(ledger: Ask) -> None:
    said = ledger(f"{LARGE}0.6", CARD, "0.6.6", "--used-gib", "40", "--json")
    found = said.finding("A08")
    assert found["message"].startswith("Utilization 0.6 hands out 47.5")
    assert "this version does not check it, and runs out of memory later." in found["message"]
    assert said.code == 1


@pytest.mark.parametrize("used", ["-1", "nan", "inf", "1e9"])
def test_impossible_memory_of_others_is_refused(ledger: Ask, used: str) -> None:
    said = ledger(f"{SMALL}0.5", CARD, "0.10.0", "--used-gib", used)
    assert said.code == 2
    assert said.error == (
        f"vram: --used-gib is {float(used):g}; write the GiB that other processes hold on a GPU.\n"
    )


def test_engines_over_other_gpu_counts_are_not_compared(ledger: Ask) -> None:
    said = ledger(f"{LARGE}0.45 -tp 2", CARD, "0.10.0", "--beside", f"{SMALL}0.45")
    assert said.code == 2
    assert said.error == (
        "vram: The launch takes 2 GPUs and the one beside it 1; compare engines that share the "
        "same GPUs, or give --used-gib for the GPUs that both use.\n"
    )
