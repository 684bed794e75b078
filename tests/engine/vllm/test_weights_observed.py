"""Weights of one rank against every published start-up log whose model is known."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from deployments import Settings, deployment_of, gpu
from vramledger.engine.setting import Origin, Setting
from vramledger.engine.vllm.weights import rank_weights
from vramledger.errors import BadInput
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.model.dtype import DType
from vramledger.model.load import load_model
from vramledger.model.model import Model
from vramledger.units import gib

UNSTATED_VERSION = "0.10.2"
# Rows whose launch quantised a plain checkpoint while loading.
ONLINE = {
    "obs-033": "fp8",
    "obs-102": "bitsandbytes",
    "obs-138": "fp8",
    "obs-141": "experts_int8",
}
# Rows that do not measure the configuration they state.
SET_ASIDE = {
    "obs-129": "0.42 GiB above the checkpoint's parameters, on an encoder-decoder of the old engine",
}
CAPABILITIES: Mapping[str, tuple[int, int]] = {
    "H100": (9, 0),
    "H200": (9, 0),
    "H20": (9, 0),
    "A100": (8, 0),
    "L4": (8, 9),
    "4090": (8, 9),
    "3090": (8, 6),
    "3070": (8, 6),
    "5090": (12, 0),
    "Blackwell": (12, 0),
    "T4": (7, 5),
    "V100": (7, 0),
}


@dataclass(frozen=True)
class Comparison:
    """A row's logged weights beside ours, in GiB."""

    row: str
    model: str
    logged: float
    ours: float

    @property
    def error(self) -> float:
        return self.ours / self.logged - 1


def accelerator_of(row: Mapping[str, Any]) -> Accelerator:
    name = row["gpu_name"] or ""
    if name.startswith(("MI", "RX")):
        return replace(gpu(190), vendor=Vendor.AMD, compute_capability=None)
    found = [value for key, value in CAPABILITIES.items() if key in name]
    # Without a name the Marlin path tells an older card: its log line says so.
    return gpu(80, *(found[0] if found and row["id"] != "obs-006" else (8, 0)))


def served_dtype(row: Mapping[str, Any], model: Model) -> DType:
    if row["dtype"]:
        return DType(row["dtype"])
    return DType.FLOAT16 if model.dtype is DType.FLOAT32 else model.dtype


def compare(row: Mapping[str, Any]) -> Comparison | None:
    """The comparison for a row, None where its model has no published configuration."""
    try:
        model = load_model(row["model"])
    except BadInput:
        return None
    fields: dict[str, Any] = {"dtype": Setting(served_dtype(row, model))}
    if row["id"] in ONLINE:
        fields["quantization"] = Setting(ONLINE[row["id"]], Origin.GIVEN)
    pp = row["pipeline_parallel"] or 1
    settings = Settings(
        version=row["engine_version"] or UNSTATED_VERSION,
        tp=row["tensor_parallel"] or 1,
        pp=pp,
        fields=fields,
    )
    deployment = deployment_of(model, settings, accelerator_of(row))
    largest = max(rank_weights(deployment, stage).total for stage in range(pp))
    return Comparison(row["id"], row["model"], row["weights_gib"], gib(largest))


@pytest.fixture(scope="module")
def comparisons(shared_data: Path) -> list[Comparison]:
    lines = (shared_data / "observations.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    found = [
        compare(row)
        for row in rows
        if row["engine"] == "vllm" and row["weights_gib"] and row["id"] not in SET_ASIDE
    ]
    return [comparison for comparison in found if comparison is not None]


def test_the_median_error_is_far_below_half_a_per_cent(comparisons: list[Comparison]) -> None:
    assert len(comparisons) >= 60
    assert median(abs(c.error) for c in comparisons) <= 0.001


def test_nine_of_ten_rows_are_within_half_a_per_cent(comparisons: list[Comparison]) -> None:
    within = [c for c in comparisons if abs(c.error) <= 0.005]
    assert len(within) >= 0.9 * len(comparisons)


def test_no_row_is_off_by_more_than_two_per_cent(comparisons: list[Comparison]) -> None:
    assert [c for c in comparisons if abs(c.error) > 0.02] == []
