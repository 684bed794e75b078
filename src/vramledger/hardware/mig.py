"""MIG slices: parts of one GPU that programs see as GPUs of their own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vramledger.evidence import Basis, Figure
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.card_file import CardFile
from vramledger.hardware.reported import slice_memory

_MEMORY_SLICES = 8
_COMPUTE_SLICES = 7


def slices_of(card: CardFile, whole: Accelerator) -> tuple[Accelerator, ...]:
    """The slices that the vendor's profiles cut from `whole`, smallest first; () without MIG."""
    table = card.data.get("mig")
    if table is None:
        return ()
    source = card.source(table["from"])
    profiles = table["profiles"]
    seen = {entry["memory_eighths"]: float(entry["low"]) for entry in profiles if "low" in entry}
    return tuple(_slice(entry, whole, seen, source) for entry in profiles)


def _slice(
    entry: Mapping[str, Any], whole: Accelerator, seen: dict[int, float], source: str
) -> Accelerator:
    eighths, profile = entry["memory_eighths"], entry["name"]
    memory_share = eighths / _MEMORY_SLICES
    if "low" in entry:
        low, high = float(entry["low"]), float(entry["high"])
        total = Figure((low + high) / 2, low, high, Basis.MEASURED, source)
    else:
        total = slice_memory(eighths, whole.total, seen, profile, whole.name)
    bandwidth = whole.bandwidth_gb_s
    compute_share = _compute_share(entry, whole)
    return replace(
        whole,
        name=f"{whole.name}-MIG-{profile}",
        nominal_gb=float(profile.partition(".")[2].removesuffix("gb")),
        total=total,
        bandwidth_gb_s=None if bandwidth is None else bandwidth * memory_share,
        dense_tflops={kind: rate * compute_share for kind, rate in whole.dense_tflops.items()},
        multiprocessors=entry.get("multiprocessors"),
        fabric_kind="",
        fabric_group=1,
        fabric_gb_s=None,
        nvidia_smi_mib=None,
        per_server=1,
        aliases=(),
        prints=tuple(f"{printed} MIG {profile}" for printed in whole.prints),
        parent=whole.name,
        slices_per_parent=entry["count"],
        sources={**whole.sources, "multiprocessors": source, "slices_per_parent": source},
        notes="Bandwidth and rates are the slice's share of the whole GPU's.",
    )


def _compute_share(entry: Mapping[str, Any], whole: Accelerator) -> float:
    mine, all_of_them = entry.get("multiprocessors"), whole.multiprocessors
    if mine is not None and all_of_them:
        return float(mine) / all_of_them
    compute_slices = int(entry["name"].partition("g")[0])
    return compute_slices / _COMPUTE_SLICES
