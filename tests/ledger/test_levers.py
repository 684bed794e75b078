"""What would change the pool."""

from dataclasses import replace

from deployments import Settings, deployment_of
from vramledger.engine.setting import Origin, Setting
from vramledger.engine.vllm.deployment import Deployment
from vramledger.evidence import Figure
from vramledger.hardware.catalogue import find
from vramledger.ledger.account import build
from vramledger.model.load import load_model


def llama() -> Deployment:
    return deployment_of(
        load_model("meta-llama/Llama-3.1-8B-Instruct"),
        Settings("0.19.0", max_num_seqs=1024),
        find("H100-80GB-SXM"),
    )


def tokens(deployment: Deployment) -> float:
    found = build(deployment).tokens
    assert isinstance(found, Figure)
    return found.value


def test_a_lever_says_what_the_changed_launch_would_print() -> None:
    levers = {lever.change: lever for lever in build(llama()).levers}
    assert list(levers) == [
        "--gpu-memory-utilization 0.91",
        "--max-num-seqs 512",
        "--max-num-batched-tokens 4096",
        "--kv-cache-dtype fp8 (check answers first)",
    ]
    changed = replace(llama(), max_num_seqs=Setting(512, Origin.GIVEN))
    won = tokens(changed) - tokens(llama())
    assert abs(levers["--max-num-seqs 512"].effect_tokens - won) <= 32


def test_fp8_doubles_the_tokens_without_freeing_memory() -> None:
    lever = build(llama()).levers[-1]
    assert lever.effect_gib == 0.0
    assert abs(lever.effect_tokens - tokens(llama())) <= 32


def test_bytes_given_by_hand_leave_nothing_to_move() -> None:
    by_hand = replace(llama(), kv_cache_memory_bytes=Setting(20 << 30, Origin.GIVEN))
    assert build(by_hand).levers == ()
