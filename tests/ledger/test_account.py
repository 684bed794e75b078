"""The account of a deployment: what adds up, what bounds what, and what is refused."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deployments import Settings, deployment_of
from vramledger.engine.read import read_launch
from vramledger.engine.setting import Origin, Setting
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import BadInput
from vramledger.evidence import Basis, Figure
from vramledger.hardware.catalogue import find
from vramledger.ledger.account import build
from vramledger.ledger.ledger import Ledger, RankLedger
from vramledger.ledger.question import model_of
from vramledger.model.load import load_model

VERSIONS = ("0.4.2", "0.6.6", "0.7.3", "0.8.5", "0.10.0", "0.11.0", "0.19.0", "0.20.0", "0.33.0")


def llama(version: str = "0.19.0", tp: int = 1, pp: int = 1, **fields: Any) -> Deployment:
    """Llama-3.1-8B on H100, everything else vLLM's plainest value."""
    made = deployment_of(
        load_model("meta-llama/Llama-3.1-8B-Instruct"),
        Settings(version, tp=tp, pp=pp, max_num_seqs=256, fields=fields),
        find("H100-80GB-SXM"),
    )
    return replace(made, estimate_cuda_graphs=made.rules.graph_in_budget)


def inside(rank: RankLedger) -> float:
    return sum(row.figure.value for row in rank.rows if row.in_budget)


def tokens(ledger: Ledger) -> Figure:
    assert isinstance(ledger.tokens, Figure)
    return ledger.tokens


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("tp", "pp"), [(1, 1), (2, 1), (1, 2)])
def test_the_rows_inside_the_budget_add_up_to_it_on_every_rank(
    version: str, tp: int, pp: int
) -> None:
    ledger = build(llama(version, tp, pp))
    assert [rank.rank for rank in ledger.ranks] == list(range(tp * pp))
    for rank in ledger.ranks:
        assert inside(rank) == pytest.approx(rank.budget.value, abs=0.01)


@settings(max_examples=25, deadline=None)
@given(share=st.floats(0.3, 0.98), rows=st.integers(1, 512), batched=st.integers(512, 16384))
def test_low_expected_and_high_keep_their_order(share: float, rows: int, batched: int) -> None:
    ledger = build(
        llama(
            gpu_memory_utilization=Setting(share),
            max_num_seqs=Setting(rows),
            max_num_batched_tokens=Setting(batched),
        )
    )
    assert ledger.pool_low is not None
    assert ledger.pool is not None
    assert ledger.pool_high is not None
    blocks = [p.num_blocks for p in (ledger.pool_low, ledger.pool, ledger.pool_high)]
    assert blocks == sorted(blocks)
    assert tokens(ledger).low <= tokens(ledger).value <= tokens(ledger).high


def test_more_utilization_never_gives_fewer_tokens() -> None:
    counts = [
        tokens(build(llama(gpu_memory_utilization=Setting(share)))).value
        for share in (0.5, 0.7, 0.9, 0.95)
    ]
    assert counts == sorted(counts)


def test_graph_memory_is_outside_the_budget_before_0_20_and_inside_from_then_on() -> None:
    before, after = (build(llama(version)).ranks[0] for version in ("0.19.0", "0.20.0"))
    assert [r.in_budget for r in before.rows if r.key == "cuda_graph"] == [False]
    assert [r.in_budget for r in after.rows if r.key == "cuda_graph"] == [True, False]
    assert before.row("kv_cache").value > after.row("kv_cache").value


def test_explicit_bytes_are_the_pool_and_the_margin_takes_what_the_budget_leaves() -> None:
    size = 20 << 30
    explicit = Setting(size, Origin.GIVEN)
    ledger = build(llama("0.19.0", kv_cache_memory_bytes=explicit))
    rank = ledger.ranks[0]
    assert rank.row("kv_cache").value == 20.0
    assert rank.row("kv_cache").is_sharp
    assert rank.row("margin").value > 30
    assert inside(rank) == pytest.approx(rank.budget.value, abs=1e-6)
    assert tokens(ledger).value == size // (2097152) * 16


def test_explicit_bytes_beyond_the_card_are_a_finding_and_do_not_fit() -> None:
    explicit = Setting(70 << 30, Origin.GIVEN)
    ledger = build(llama("0.19.0", kv_cache_memory_bytes=explicit))
    assert not ledger.fits
    assert ledger.reason == (
        "Allocating the KV cache fails: 70.00 GiB are asked for on rank 0, and beside weights and "
        "context 63.42 GiB are there; lower --kv-cache-memory-bytes."
    )
    found = next(f for f in ledger.findings if f.id == "L02")
    assert found.effect_gib == pytest.approx(-8.4, abs=0.6)


def test_v0_samples_on_the_first_rank_only_so_the_others_have_more_left() -> None:
    first, second = build(llama("0.6.6", tp=2)).ranks
    assert first.row("activation").value > second.row("activation").value + 0.5
    assert first.row("kv_cache").value < second.row("kv_cache").value


def test_the_last_pipeline_stage_samples_and_limits_every_stage() -> None:
    ledger = build(llama(pp=2, max_num_seqs=Setting(1024)))
    first, last = ledger.ranks
    assert (first.pp_stage, last.pp_stage) == (0, 1)
    assert last.row("activation").value > first.row("activation").value
    assert ledger.pool is not None
    assert ledger.pool.available_bytes[1] < ledger.pool.available_bytes[0]


def test_an_automatic_length_is_the_longest_that_fits() -> None:
    fields: dict[str, Any] = {
        "max_model_len": Setting(None),
        "gpu_memory_utilization": Setting(0.25),
    }
    ledger = build(llama(**fields))
    assert ledger.pool is not None
    assert ledger.pool.fits_one
    assert ledger.pool.max_model_len < 131072
    again = build(llama(**{**fields, "max_model_len": Setting(ledger.pool.max_model_len)}))
    assert again.pool is not None
    assert again.pool.fits_one


def test_capacity_counts_requests_of_the_stated_length() -> None:
    short = build(llama(), request_tokens=100).capacity_tokens
    assert isinstance(short, Figure)
    assert short.source == "tokens held at once by requests of 100 tokens"
    long = build(llama(), request_tokens=8192).capacity_tokens
    assert isinstance(long, Figure)
    assert short.value < long.value  # 100 tokens take seven blocks of sixteen


def test_a_layout_the_heads_forbid_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(
        BadInput, match=r"sizes up to 16: 1, 2, 4, 8, 16\. With 3 GPUs: TP 1 x PP 3, "
    ):
        build(llama(tp=3))


def test_a_version_that_measures_the_whole_device_has_a_wider_band() -> None:
    known, new = (
        build(llama(version)).ranks[0].row("non_torch") for version in ("0.19.0", "0.33.0")
    )
    assert new.high - new.low > 3 * (known.high - known.low)


def test_a_gpu_nobody_measured_widens_the_band() -> None:
    card = find("RTX-5090")
    seen = build(llama("0.10.0")).ranks[0].row("non_torch")
    unseen = build(replace(llama("0.10.0"), accelerator=card)).ranks[0].row("non_torch")
    assert unseen.value == seen.value
    assert unseen.high - unseen.low > 2 * (seen.high - seen.low)


def test_what_data_parallel_experts_gather_is_said_to_be_unseen() -> None:
    command = "vllm serve Qwen/Qwen3-30B-A3B --max-num-seqs 64 --enable-expert-parallel"
    launches = [read_launch(f"{command} -dp {ranks}", version="0.11.0") for ranks in (1, 4)]
    card = find("H100-80GB-SXM")
    rows = [
        next(row for row in build(resolve(one, model_of(one), card)).ranks[0].rows
             if row.key == "activation")
        for one in launches
    ]  # fmt: skip
    assert [row.figure.basis for row in rows] == [Basis.CALIBRATED, Basis.DERIVED]
    assert rows[1].figure.value > rows[0].figure.value
    widths = [row.figure.high - row.figure.low for row in rows]
    assert widths[1] > widths[0]
    assert rows[1].note.endswith("by formula: no start-up log has shown it")
    assert "data-parallel ranks" not in rows[0].note
