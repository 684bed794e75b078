"""Questions put to a ledger backwards: solve, compare, sweep, gate, measured beside predicted."""

import json
from pathlib import Path

import pytest

from vramledger.engine.read import read_launch
from vramledger.engine.vllm.log.lines import parse_lines
from vramledger.engine.vllm.log.startup import parse_startup
from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.ledger.axis import parse_axis
from vramledger.ledger.case import Case
from vramledger.ledger.gate import gate, read_baseline
from vramledger.ledger.measured import compare_log
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.ledger.solve import Load, holds, solve
from vramledger.ledger.sweep import movers, sweep
from vramledger.ledger.upgrade import upgrade
from vramledger.ledger.versus import versus
from vramledger.report.ledger_json import ledger_json


def case(command: str, gpu: str, version: str | None = None) -> Case:
    launch = read_launch(command)
    return Case(launch, model_of(launch), accelerator_for(gpu), version)


LLAMA_ON_L4 = "vllm serve meta-llama/Llama-3.1-8B-Instruct"


def test_the_largest_length_holds_and_one_block_more_does_not() -> None:
    start = case(LLAMA_ON_L4, "L4", "0.19.0")
    answer = solve(start, "max-model-len", Load())
    assert isinstance(answer.value, int)
    assert answer.value % 16 == 0
    assert holds(start.with_flag("max-model-len", str(answer.value)), Load())
    assert not holds(start.with_flag("max-model-len", str(answer.value + 16)), Load())


def test_the_largest_concurrency_holds_and_one_more_does_not() -> None:
    start = case(f"{LLAMA_ON_L4} --max-model-len 8192", "L4", "0.19.0")
    answer = solve(start, "max-num-seqs", Load(tokens=2048))
    assert isinstance(answer.value, int)
    more = answer.value + 1
    changed = start.with_flag("max-num-seqs", str(more))
    assert not holds(changed, Load(more, 2048))


def test_the_smallest_utilization_holds_and_one_hundredth_less_does_not() -> None:
    start = case(f"{LLAMA_ON_L4} --max-model-len 8192", "L4", "0.19.0")
    answer = solve(start, "gpu-memory-utilization", Load())
    assert isinstance(answer.value, float)
    less = f"{answer.value - 0.01:.2f}"
    assert not holds(start.with_flag("gpu-memory-utilization", less), Load())


def test_explicit_kv_bytes_hold_exactly_the_load() -> None:
    start = case(f"{LLAMA_ON_L4} --max-model-len 8192", "H100-80GB-SXM", "0.19.0")
    answer = solve(start, "kv-cache-memory-bytes", Load(4, 8192))
    assert answer.value == (4 * 512 + 1) * 2_097_152
    assert answer.ledger is not None
    pool = answer.ledger.pool
    assert pool is not None
    assert pool.capacity(8192) == 4


def test_the_smallest_number_of_gpus_is_legal_for_the_heads() -> None:
    start = case(
        "vllm serve meta-llama/Llama-3.1-70B-Instruct --max-model-len 8192", "L40S", "0.19.0"
    )
    assert solve(start, "gpus", Load()).value == 4


def test_an_unknown_question_is_refused_by_name() -> None:
    with pytest.raises(UnknownName) as caught:
        solve(case(LLAMA_ON_L4, "L4"), "max-model-length", Load())
    assert str(caught.value) == (
        "Unknown question for --solve 'max-model-length'; the nearest known one is max-model-len. The "
        "questions are max-model-len, max-num-seqs, gpu-memory-utilization, kv-cache-memory-bytes and "
        "gpus, which also finds the tensor and pipeline parallel sizes."
    )


def test_lengths_below_the_chunking_threshold_cost_more_activation_in_old_versions() -> None:
    start = case("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 2", "H100-80GB-SXM", "0.5.4")
    tokens = {}
    for length in (131_072, 24_000, 20_000):
        ledger = start.with_flag("max-model-len", str(length)).ledger()
        assert ledger.pool is not None
        tokens[length] = ledger.pool.tokens
    assert tokens[131_072] > tokens[20_000] > tokens[24_000]


def test_two_launches_are_compared_setting_by_setting() -> None:
    before = case(f"{LLAMA_ON_L4} --max-model-len 8192", "L4", "0.19.0")
    after = before.with_flag("kv-cache-dtype", "fp8")
    result = versus(before, after)
    assert [s.name for s in result.settings] == [
        "kv_cache_dtype",
        "resolved cache type",
        "bytes per block",
        "--kv-cache-dtype alone",
    ]
    assert result.tokens_before is not None
    assert result.tokens_after is not None
    assert result.settings[-1].alone_tokens == result.tokens_after - result.tokens_before
    assert result.sentence == (
        "The KV cache grows from 34,064 to 68,128 tokens (+100.0%); a token costs 65,536 instead of "
        "131,072 bytes on a GPU (cache type fp8 instead of bfloat16), which alone makes +34,064 "
        "tokens."
    )


def test_a_version_that_stores_a_token_otherwise_is_named_before_any_row() -> None:
    launch = "vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8"
    before = case(launch, "H200-141GB-SXM", "0.12.0")
    after = case(launch, "H200-141GB-SXM", "0.33.0")
    result = versus(before, after)
    said = "a token costs 78,324 instead of 48,068 bytes on a GPU (cache type bfloat16 instead of "
    assert f"; {said}fp8_ds_mla), which alone makes -" in result.sentence
    assert result.sentence.index("a token costs") < result.sentence.index("the row that moves most")
    found = {s.name: (s.before, s.after) for s in result.settings}
    assert found["resolved cache type"] == ("fp8_ds_mla", "bfloat16")
    assert found["bytes per block"] == ("3,076,352", "5,012,736")
    finding = upgrade(before, before.ledger())
    assert finding is not None
    assert f": {said}fp8_ds_mla); " in finding.message


def test_the_same_launch_compared_with_itself_stays() -> None:
    start = case(f"{LLAMA_ON_L4} --max-model-len 8192", "L4", "0.19.0")
    result = versus(start, start)
    assert (result.settings, result.rows) == ((), ())
    assert result.sentence == "The KV cache stays at 34,064 tokens."


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("max-model-len=4k..16k", ("4096", "8192", "16384")),
        ("concurrency=1..6", ("1", "2", "4", "6")),
        ("kv_cache_dtype=auto,fp8", ("auto", "fp8")),
        ("max-model-len=4k,8K,9000", ("4096", "8192", "9000")),
    ],
)
def test_axes_are_ranges_or_lists(text: str, values: tuple[str, ...]) -> None:
    assert parse_axis(text).values == values


@pytest.mark.parametrize("text", ["", "max-model-len", "x=", "x=8k..4k", "x=a..b", "x=,"])
def test_other_axes_are_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_axis(text)


def test_a_table_keeps_the_rows_that_do_not_fit() -> None:
    start = case(LLAMA_ON_L4, "L4", "0.19.0")
    entries = sweep(start, parse_axis("max-model-len=8k..128k"), 1, None)
    assert [entry.fits for entry in entries] == sorted((e.fits for e in entries), reverse=True)
    assert entries[0].fits
    assert not entries[-1].fits
    assert "does not fit" in entries[-1].reason


def test_length_and_concurrency_move_a_full_attention_model_alike() -> None:
    start = case(f"{LLAMA_ON_L4} --max-model-len 8192", "L4", "0.19.0")
    found = {mover.name: mover.added_gib for mover in movers(start, 16, 8192)}
    assert found["request length"] == found["concurrent requests"] == pytest.approx(16.0)


def test_the_gate_names_the_setting_that_lost_tokens(tmp_path: Path) -> None:
    start = case(f"{LLAMA_ON_L4} --max-model-len 8192", "H100-80GB-SXM", "0.19.0")
    path = tmp_path / "KV.json"
    path.write_text(json.dumps(ledger_json(start.ledger())))
    baseline = read_baseline(path)
    same = gate(start.ledger(), baseline, 0.0)
    assert same.holds
    assert same.sentence == (
        "From 443,376 to 443,376 KV tokens (0.0%): within the allowed loss of 0.0%. No setting "
        "differs."
    )
    worse = start.with_flag("max-num-batched-tokens", "65536").ledger()
    verdict = gate(worse, baseline, 0.05)
    assert not verdict.holds
    assert "max_num_batched_tokens 8192 -> 65536" in verdict.sentence
    assert "The row that grew most is activation peak" in verdict.sentence


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON; save one with vram ledger ... --json."),
        ('{"schema": "x"}', "is no ledger of schema vramledger.ledger/1"),
        ('{"schema": "vramledger.ledger/1", "kv": {}}', "lacks a figure the gate needs"),
        (
            '{"schema": "vramledger.ledger/1", "kv": {"tokens": {"value": 1e999}}}',
            "lacks a figure the gate needs",
        ),
    ],
)
def test_a_broken_baseline_is_one_sentence(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "KV.json"
    path.write_text(content)
    with pytest.raises(BadInput, match=message.replace(".", r"\.")):
        read_baseline(path)


LOG = """\
(Worker_TP0 pid=1) INFO [x.py:1] Model loading took 14.99 GiB memory and 4.0 seconds
(Worker_TP0 pid=1) INFO [x.py:1] Available KV cache memory: 50.0 GiB
(EngineCore_DP0 pid=1) INFO [x.py:1] GPU KV cache size: 409,600 tokens
"""


def test_a_gap_above_two_percent_gets_its_likely_reason() -> None:
    start = case(
        f"{LLAMA_ON_L4} --max-model-len 8192 --gpu-memory-utilization 0.95",
        "H100-80GB-SXM",
        "0.19.0",
    )
    found = {
        c.key: c
        for c in compare_log(start.ledger(), parse_startup(parse_lines(LOG.splitlines()), "log"))
    }
    weights = found["weights_gib"]
    assert weights.gap is not None
    assert abs(weights.gap) < 0.002
    assert weights.reason == ""
    kv = found["kv_cache_gib"]
    assert kv.inside_band is False
    assert kv.reason == "The other rows took more than predicted: see the rows above for which."


def test_a_model_too_large_for_one_server_is_staged_over_several() -> None:
    start = case(
        "vllm serve meta-llama/Llama-3.1-405B-Instruct --max-model-len 8192", "L40S", "0.19.0"
    )
    answer = solve(start, "gpus", Load())
    assert answer.sentence.startswith("24 x L40S (TP 8, PP 3) hold 1 request of 8,192 tokens.")
    assert answer.value == 24


def test_a_card_that_only_a_plugin_serves_gets_no_figures() -> None:
    with pytest.raises(CannotKnow) as caught:
        case(LLAMA_ON_L4, "Gaudi-2").ledger()
    assert str(caught.value) == (
        "vLLM serves Gaudi-2 only through the vllm-gaudi plugin, whose memory rules are not known "
        "here."
    )


def test_a_card_too_old_for_the_version_is_refused_by_the_rule() -> None:
    with pytest.raises(BadInput) as caught:
        case(LLAMA_ON_L4, "P40").ledger()
    assert str(caught.value) == "vLLM 0.33 needs compute capability 7.5; P40 has 6.1."


def test_figures_on_a_card_of_another_vendor_say_so() -> None:
    notes = case(f"{LLAMA_ON_L4} --max-model-len 8192", "MI300X").ledger().deployment.remarks
    assert any("no start-up log of AMD cards has checked them" in note for note in notes)
