"""The ledger as JSON, text and Markdown."""

import json
import re
from itertools import takewhile
from typing import Any

import pytest

from deployments import Settings, deployment_of
from vramledger.engine.setting import Setting
from vramledger.hardware.catalogue import find
from vramledger.ledger.account import build
from vramledger.ledger.ledger import Ledger
from vramledger.model.load import load_model
from vramledger.report.ledger import to_text
from vramledger.report.ledger_json import ledger_json
from vramledger.report.ledger_markdown import to_markdown

PARTS = (
    "weights_gib",
    "activation_gib",
    "non_torch_gib",
    "cuda_graph_gib",
    "state_gib",
    "draft_gib",
    "lora_gib",
    "encoder_gib",
    "kv_cache_gib",
    "margin_gib",
)


def ledger_of(model: str = "google/gemma-3-12b-it", version: str = "0.20.0", **more: Any) -> Ledger:
    settings = Settings(
        version, tp=more.pop("tp", 1), fields={"estimate_cuda_graphs": True, **more}
    )
    return build(deployment_of(load_model(model), settings, find("H100-80GB-SXM")))


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return ledger_of()


def test_the_parts_of_a_rank_add_up_to_its_budget(ledger: Ledger) -> None:
    found = json.loads(json.dumps(ledger_json(ledger)))
    assert found["schema"] == "vramledger.ledger/1"
    for rank in found["ranks"]:
        parts = sum(rank[part]["value"] for part in PARTS)
        assert parts == pytest.approx(rank["budget_gib"]["value"], abs=0.01)


def test_every_figure_has_value_band_basis_and_source(ledger: Ledger) -> None:
    rank = ledger_json(ledger)["ranks"][0]
    for part in (*PARTS, "total_gib", "budget_gib", "outside_budget_gib"):
        figure = rank[part]
        assert figure["low"] <= figure["value"] <= figure["high"]
        assert figure["basis"]
        assert figure["source"]


def test_graph_memory_left_outside_is_counted_outside() -> None:
    before = ledger_json(ledger_of(version="0.19.0", estimate_cuda_graphs=False))["ranks"][0]
    assert before["cuda_graph_gib"]["value"] == 0.0
    outside = [row for row in before["rows"] if row["key"] == "cuda_graph"]
    assert [row["in_budget"] for row in outside] == [False]
    assert before["outside_budget_gib"]["value"] > outside[0]["gib"]["value"] > 0.5


def test_the_pool_is_given_in_plain_numbers(ledger: Ledger) -> None:
    kv = ledger_json(ledger)["kv"]
    assert kv["block_size"] == 16
    assert kv["bytes_per_block"] == 1048576
    assert kv["tokens"]["value"] == kv["num_blocks"] // 6 * 16
    assert kv["max_concurrency"] > 1
    assert sum(group["layers"] for group in kv["groups"]) == 48


def test_every_rank_is_listed() -> None:
    ranks = ledger_json(ledger_of(tp=4))["ranks"]
    assert [(r["rank"], r["pp_stage"], r["tp_rank"]) for r in ranks] == [
        (0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3),
    ]  # fmt: skip


def test_a_model_without_a_cache_has_null_with_a_reason() -> None:
    kv = ledger_json(ledger_of("BAAI/bge-m3", max_model_len=Setting(512)))["kv"]
    assert kv["num_blocks"] is None
    assert kv["tokens"] == {"value": None, "reason": "this model keeps no KV cache"}


def test_the_text_begins_with_the_verdict_and_shows_equal_ranks_once() -> None:
    text = to_text(ledger_of(tp=2))
    assert text.startswith("FITS: It starts and holds ")
    assert text.count("ranks 0, 1: [") == 1
    for group in ("fixed", "varies with load", "hidden by the engine"):
        assert f"\n{group}" in text
    assert ", outside the budget" in text
    assert "\n  margin " not in text


def test_markdown_has_one_table_of_rows_and_the_verdict_in_bold(ledger: Ledger) -> None:
    text = to_markdown(ledger)
    assert "**Fits.** It starts and holds " in text
    assert text.count("| group | row | GiB | low | high | basis |") == 1
    assert "| fixed | weights | " in text
    assert text.endswith("\n")


def test_figures_stand_in_their_columns_whatever_the_label() -> None:
    lines = to_text(ledger_of(tp=2)).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("ranks 0, 1 "))
    rows = list(takewhile(bool, lines[first + 1 :]))
    assert len(rows) > 6
    for row in rows:
        assert re.fullmatch(r".{36} {1,6}\d+\.\d\d {1,6}\d+\.\d\d {1,6}\d+\.\d\d(  .*)?", row), row


def test_many_equal_ranks_are_a_range() -> None:
    assert "ranks 0-3: [" in to_text(ledger_of(tp=4))
