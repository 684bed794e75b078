"""The measured rows, each as the question that `vram predict` would be asked.

The table states nominal lengths, a concurrency and a layout; what it does not state is read as
docs/explanation/timing.md says: mean lengths, the run's length, the width of the cache, layouts whose
numbers were multiplied up twice.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_CONCURRENCY: Final = re.compile(r"silicon_concurrency=(\d+)")
_MEAN_OF_NOMINAL: Final = 0.9  # lengths are uniform between 0.8 and 1.0 of the nominal ones
_RUN: Final = 10  # requests for each one in flight
_RUN_UNKNOWN: Final = 7.5  # the other source does not state it
_UNIFORM: Final = frozenset({"1024", "8192"})
# What the generator of the second source's launch commands passes to vLLM 0.12:
# https://github.com/ai-dynamo/aiconfigurator/blob/11324a64f9f1ec6bbeda566c89566dd43d51290b/src/aiconfigurator/generator/rule_plugin/vllm.rule
_GENERATED: Final = "0.12.0"
_GENERATED_SEQS: Final = 512  # or twice the batch, where that is larger
_NARROW_CACHE: Final = frozenset(
    {
        ("meta-llama/Llama-3.1-70B", "h200_sxm"),
        ("meta-llama/Llama-3.1-70B", "b200_sxm"),
        ("openai/gpt-oss-120b", "b200_sxm"),
        ("MiniMaxAI/MiniMax-M2.5", "b200_sxm"),
        ("MiniMaxAI/MiniMax-M2.5", "b300_sxm"),
    }
)


@dataclass(frozen=True, slots=True)
class Row:
    """One measured point: the question, and what was measured in seconds."""

    case: Mapping[str, Any]
    ttft: float
    tpot: float

    @property
    def group(self) -> tuple[str, str]:
        """Model and GPU: what is left out together."""
        return self.case["model"], self.case["gpu"]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that are used, and those set aside with the reason."""

    kept: tuple[Row, ...]
    aside: tuple[tuple[str, str], ...]  # (id, reason)


def measured_rows(path: Path, engine: str = "vllm") -> Rows:
    """The aggregated rows of an engine."""
    kept, aside = [], []
    for raw in _aggregated(path, engine):
        reason = _why_aside(raw)
        if reason:
            aside.append((raw["id"], reason))
        else:
            kept.append(_row(raw))
    return Rows(tuple(kept), tuple(aside))


def _aggregated(path: Path, engine: str) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        for raw in csv.DictReader(file):
            if raw["backend"] == engine and raw["mode"] == "agg":
                yield raw


def _concurrency(raw: Mapping[str, str]) -> int | None:
    found = _CONCURRENCY.search(raw["silicon_data_source"])
    return int(found[1]) if found else None


def _why_aside(raw: Mapping[str, str]) -> str:
    stated = _concurrency(raw)
    if stated is None:
        return "no concurrency in the record"
    if raw["model_path"] == "openai/gpt-oss-120b" and raw["system"] == "h100_sxm" and stated == 512:
        return "the server ran few requests at a time; its sequence cap is not in the record"
    return ""


def _row(raw: Mapping[str, str]) -> Row:
    uniform = raw["isl"] in _UNIFORM and raw["osl"] in _UNIFORM
    share = _MEAN_OF_NOMINAL if uniform else 1.0
    tp, dp, concurrency = _layout(raw)
    case = {
        "id": raw["id"],
        "engine": raw["backend"],
        "engine_version": raw["backend_version"] or None,
        "model": raw["model_path"],
        "gpu": raw["system"],
        "gpus": tp * dp,
        "precision": raw["precision"] or None,
        "kv_dtype": "fp8" if (raw["model_path"], raw["system"]) in _NARROW_CACHE else "bf16",
        "tp": tp,
        "pp": int(raw["pp_size"] or 1),
        "dp": dp,
        "moe_tp": int(raw["moe_tp_size"] or 0) or None,
        "moe_ep": int(raw["moe_ep_size"] or 0) or None,
        "input_tokens": float(raw["isl"]) * share,
        "output_tokens": float(raw["osl"]) * share,
        "concurrency": concurrency,
        "requests": concurrency * (_RUN if uniform else _RUN_UNKNOWN),
        "max_num_seqs": None if uniform else _sequences(raw),
    }
    return Row(case, float(raw["silicon_ttft_ms"]) / 1e3, float(raw["silicon_tpot_ms"]) / 1e3)


def _sequences(raw: Mapping[str, str]) -> int | None:
    """max_num_seqs of a generated launch, None where the engine's default ran."""
    if raw["backend_version"] != _GENERATED:
        return None
    batch = int(raw["batch_size"])
    return _GENERATED_SEQS if batch < _GENERATED_SEQS else 2 * batch


def _layout(raw: Mapping[str, str]) -> tuple[int, int, int]:
    """Attention TP, DP and the concurrency of a replica."""
    tp, stated = int(raw["tp_size"]), int(raw["attention_dp_size"] or 0)
    batch = int(raw["batch_size"])
    experts = int(raw["moe_tp_size"] or 0) * int(raw["moe_ep_size"] or 0)
    if not stated:
        return tp, max(experts // tp, 1), batch
    if stated > 1 and experts == tp * stated:  # multiplied up twice
        if raw["system"] == "h100_sxm":  # the same server as its rows without replicas
            return tp, 1, batch * stated
        return 1, stated, batch
    return tp, stated, batch
