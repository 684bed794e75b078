"""What an account shows that its owner may not expect, each with its effect."""

import pytest

from vramledger.engine.finding import Finding, Severity
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.lint import RULES as LINT
from vramledger.ledger.case import Case
from vramledger.ledger.findings import RULES
from vramledger.ledger.findings.failure import FAILURES
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.ledger.remedy import REMEDY_ID, remedy
from vramledger.ledger.upgrade import UPGRADE_ID, account, upgrade

LLAMA = "vllm serve meta-llama/Llama-3.1-8B-Instruct"


def case(command: str, gpu: str, version: str, tokens: int | None = None) -> Case:
    launch = read_launch(command, version=version)
    return Case(launch, model_of(launch), accelerator_for(gpu), version, tokens)


def finding(ledger: Ledger, name: str) -> Finding | None:
    return next((f for f in ledger.findings if f.id == name), None)


def test_every_finding_has_an_id_of_its_own() -> None:
    ids = [rule.id for rule in RULES] + sorted(FAILURES.values()) + [REMEDY_ID, UPGRADE_ID]
    lint = {rule.id for rule in LINT}
    assert len(ids) == len(set(ids))
    assert not lint & set(ids)
    assert all(rule.source for rule in RULES)


def test_explicit_bytes_over_a_utilization_say_what_they_cost() -> None:
    start = case(f"{LLAMA} --max-model-len 8192 --gpu-memory-utilization 0.9 "
                 "--kv-cache-memory-bytes 20G", "H100-80GB-SXM", "0.19.0")  # fmt: skip
    found = finding(start.ledger(), "L01")
    free = start.without_flag("kv-cache-memory-bytes").ledger()
    assert found is not None
    assert found.effect_gib == pytest.approx(20 - free.ranks[0].row("kv_cache").value, abs=0.01)
    assert free.pool is not None
    assert found.effect_tokens is not None
    printed = start.ledger().pool
    assert printed is not None
    assert found.effect_tokens == pytest.approx(printed.tokens - free.pool.tokens, rel=0.01)


def test_copies_of_kv_heads_are_counted_in_gib_and_tokens() -> None:
    ledger = case(f"{LLAMA} -tp 16 --max-model-len 8192", "H100-80GB-SXM", "0.19.0").ledger()
    found = finding(ledger, "L17")
    assert found is not None
    assert ledger.pool_low is not None
    assert found.message.startswith(
        "Each KV head is kept on 2 ranks of the tensor-parallel group: "
    )
    assert found.effect_gib == pytest.approx(
        -min(r.row("kv_cache").value for r in ledger.ranks) / 2
    )
    assert found.effect_tokens == -ledger.pool_low.tokens


@pytest.mark.parametrize("version", ["0.10.2", "0.19.0", "0.33.0"])
def test_a_limit_far_above_need_costs_tables_and_no_cache_on_a_paged_engine(version: str) -> None:
    start = case(LLAMA, "H100-80GB-SXM", version, tokens=4096)
    found = finding(start.ledger(), "A04")
    assert found is not None
    assert found.message.startswith(
        "max_model_len 131072 is 32 times the stated requests of 4096 tokens. On a paged engine it "
        "reserves no cache: here it costs the check that one such request fits, "
    )
    assert found.message.endswith(" of block tables and no activation peak.")
    assert found.effect_tokens == 0
    rows = start.deployment().max_num_seqs.value
    assert found.effect_gib == pytest.approx(-rows * (131_072 - 4096) // 16 * 4 / 2**30, rel=0.01)


def test_the_same_limit_costs_activations_where_the_profile_follows_it() -> None:
    start = case(f"{LLAMA} --max-model-len 30000", "L40S", "0.5.4", tokens=3000)
    found = finding(start.ledger(), "A04")
    assert found is not None
    assert "and no activation peak" not in found.message
    short = start.with_flag("max-model-len", "3000").ledger()
    assert found.effect_tokens is not None
    assert short.pool is not None
    assert start.ledger().pool is not None
    gained = short.pool.tokens - start.ledger().pool.tokens  # type: ignore[union-attr]
    assert -found.effect_tokens == pytest.approx(gained, rel=0.05)


def test_a_limit_near_the_need_is_no_finding() -> None:
    ledger = case(f"{LLAMA} --max-model-len 8192", "H100-80GB-SXM", "0.19.0", 4096).ledger()
    assert finding(ledger, "A04") is None
    assert finding(ledger, "A07") is None


def test_a_limit_without_room_for_the_answer_says_by_how_much() -> None:
    ledger = case(f"{LLAMA} --max-model-len 8192", "H100-80GB-SXM", "0.19.0", 9216).ledger()
    found = finding(ledger, "A07")
    assert found is not None
    assert found.severity is Severity.SILENT
    assert found.effect_tokens == -1024
    assert found.message == (
        "max_model_len 8192 bounds the prompt and the answer together, and the stated requests "
        "take 9216 tokens: answers are cut 1024 tokens short, and a prompt as long as the limit is "
        "refused. Raise --max-model-len."
    )


def test_more_cache_than_may_run_is_named() -> None:
    start = case(f"{LLAMA} --max-model-len 8192 --max-num-seqs 8", "H100-80GB-SXM", "0.19.0", 4096)
    ledger = start.ledger()
    found = finding(ledger, "A14")
    assert found is not None
    assert ledger.pool_low is not None
    assert found.message.startswith(
        f"The pool holds {ledger.pool_low.capacity(4096)} requests of 4096 tokens, and "
        "max_num_seqs lets 8 run: "
    )
    busy = start.with_flag("max-num-seqs", "1024").ledger()
    assert finding(busy, "A14") is None


def test_utilization_over_what_is_free_is_an_error_where_the_version_checks() -> None:
    start = case(f"{LLAMA} --gpu-memory-utilization 1.0", "H100-80GB-SXM", "0.19.0")
    found = finding(start.ledger(), "L03")
    assert found is not None
    assert found.severity is Severity.ERROR
    older = case(f"{LLAMA} --gpu-memory-utilization 1.0", "H100-80GB-SXM", "0.6.6").ledger()
    assert finding(older, "L03") is None
    unchecked = finding(older, "A08")
    assert unchecked is not None
    assert unchecked.severity is Severity.SILENT
    assert unchecked.effect_gib is not None
    assert unchecked.effect_gib < 0


def test_an_upgrade_is_named_with_defaults_graphs_and_the_printed_figure() -> None:
    start = case(f"{LLAMA} --max-model-len 8192", "H100-80GB-SXM", "0.18.0")
    found = upgrade(start, start.ledger())
    assert found is not None
    assert found.message.startswith("On vLLM 0.33 the same launch prints ")
    for part in (
        (
            "the printed figure is concurrency x max_model_len, not blocks // groups x smallest block "
            "size"
        ),
        "gpu_memory_utilization defaults to 0.92, not 0.9",
        "graph memory deducted from the budget +",
    ):
        assert part in found.message
    stated = case(f"{LLAMA} --max-model-len 8192 --gpu-memory-utilization 0.9", "H100-80GB-SXM",
                  "0.18.0")  # fmt: skip
    kept = upgrade(stated, stated.ledger())
    assert kept is not None
    assert "gpu_memory_utilization defaults" not in kept.message


def test_an_upgrade_that_refuses_an_argument_is_said_to_refuse_it() -> None:
    start = case(f"{LLAMA} --max-model-len 8192 --swap-space 4", "H100-80GB-SXM", "0.11.0")
    found = upgrade(start, start.ledger())
    assert found is not None
    assert found.message.startswith("On vLLM 0.33 this launch does not start: vLLM 0.33 has no ")
    assert "--swap-space" in found.message


def test_the_newest_version_has_no_upgrade() -> None:
    ledger = account(case(f"{LLAMA} --max-model-len 8192", "H100-80GB-SXM", "0.33.0"))
    assert finding(ledger, UPGRADE_ID) is None


def test_what_makes_it_start_does_make_it_start() -> None:
    start = case(LLAMA, "L4", "0.19.0")
    found = remedy(start)
    assert found is not None
    assert found.message.startswith("It starts with any of these: ")
    offers = found.message.removeprefix("It starts with any of these: ").removesuffix(".")
    for offer in offers.split("; "):
        changed = start
        words = offer.split()
        for flag, value in zip(words[::2], words[1::2], strict=True):
            changed = changed.with_flag(flag.removeprefix("--"), value)
        assert changed.ledger().fits, offer


def test_a_launch_that_starts_needs_no_remedy() -> None:
    assert remedy(case(f"{LLAMA} --max-model-len 8192", "L4", "0.19.0")) is None


def test_weights_that_do_not_load_have_no_remedy_of_flags() -> None:
    assert remedy(case("vllm serve Qwen/Qwen3-32B", "L4", "0.19.0")) is None


@pytest.mark.parametrize("card", ["L4", "L40S", "RTX-4090", "A10"])
@pytest.mark.parametrize("version", ["0.8.5", "0.11.0", "0.19.0", "0.33.0"])
def test_a_default_launch_that_holds_is_not_said_to_run_out(card: str, version: str) -> None:
    ledger = case("vllm serve Qwen/Qwen3-4B --max-model-len 8192", card, version).ledger()
    assert ledger.fits
    assert finding(ledger, "A01") is None


@pytest.mark.parametrize("version", ["0.9.0", "0.11.0", "0.33.0"])
def test_an_encoder_is_warned_of_no_cache_and_no_sampler(version: str) -> None:
    ledger = case("vllm serve BAAI/bge-m3", "L4", version).ledger()
    assert ledger.fits
    assert ledger.findings == ()
