"""Non-torch memory by how a version measures and how ranks are joined."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from accuracy.measure import LIKE_CUDA, Measured
from accuracy.statistic import Fitted, Sample, centre, entry, family, wide_if_few
from vramledger.engine.vllm.coefficients import Coefficient
from vramledger.engine.vllm.overheads import (
    COMMUNICATORS_INSIDE,
    runner_buffers,
    switched_peers,
)
from vramledger.engine.vllm.rules import ProfileRule
from vramledger.units import GIB


def non_torch_terms(rows: Sequence[Measured]) -> Fitted:
    """Non-torch memory of every key, observed or borrowed, and what a communicator's peer adds."""
    samples = _non_torch_samples(rows)
    inside = {key for key in samples if _counts_peers(key)}
    fitted = {key: centre(found) for key, found in samples.items() if key not in inside}
    pairs, further = _trial(rows)
    if pairs:
        fitted["own-trial/tp"] = centre(pairs)
    known = _with_neighbours(fitted, _NEIGHBOURS)
    peers = {"per_peer": _per_peer(rows, known), "per_peer_trial": further}
    return {"non_torch": known, "communicators": peers}


def _trial(rows: Sequence[Measured]) -> tuple[list[Sample], Coefficient]:
    """Memory of a rank of two after the graph trial, and what each rank beyond two adds."""
    seen = [
        (row, row.non_torch)
        for row in rows
        if str(row.key) == "own-trial/tp" and row.non_torch is not None
    ]
    pairs = [Sample(family(row.row.model), value) for row, value in seen if row.row.tp == 2]
    middle = median([sample.value for sample in pairs]) if pairs else 0.0
    further = [
        Sample(family(row.row.model), (value - middle) / (row.row.tp - 2))
        for row, value in seen
        if row.row.tp > 2 and pairs
    ]
    return pairs, centre(further) if further else _PER_PEER_TRIAL


def _non_torch_samples(rows: Sequence[Measured]) -> dict[str, list[Sample]]:
    """What rows print or leave for it, by calibration key.

    A row whose sum leaves nothing ran with another utilization or card than it says.
    """
    found: dict[str, list[Sample]] = {}
    for row in rows:
        value = _beside_buffers(row)
        known_card = row.row.gpu is not None or row.row.total_gib is not None
        if value is not None and value > 0 and known_card and row.vendor in LIKE_CUDA:
            found.setdefault(str(row.key), []).append(Sample(family(row.row.model), value))
    return found


def _beside_buffers(row: Measured) -> float | None:
    """Non-torch memory without the runner's buffers, which the ledger adds where they count."""
    value = row.non_torch
    if value is None or row.deployment.rules.profile is not ProfileRule.V1_DEVICE_DELTA:
        return value
    return value - runner_buffers(row.deployment) / GIB


def _counts_peers(key: str) -> bool:
    name, _, layout = key.partition("/")
    return layout == "tp" and name in COMMUNICATORS_INSIDE


def _per_peer(rows: Sequence[Measured], known: Mapping[str, Coefficient]) -> Coefficient:
    """What is left over one rank's memory, by the number of further ranks behind a switch."""
    samples = [
        Sample(family(row.row.model), (value - known[f"{row.key.family}/one"].value) / peers)
        for row in rows
        if _counts_peers(str(row.key))
        and (peers := switched_peers(row.deployment))
        and (value := row.non_torch) is not None
    ]
    return wide_if_few(centre(samples)) if samples else _PER_PEER


def _with_neighbours(
    fitted: dict[str, Coefficient], neighbours: dict[str, tuple[str, float]]
) -> dict[str, Coefficient]:
    """Keys nobody observed borrow a neighbour's value plus a shift, and twice its band."""
    known = {key: wide_if_few(value) for key, value in fitted.items()}
    for key, (other, shift) in neighbours.items():
        if key not in known and other in known:
            near = known[other]
            middle = near.value + shift
            spread = max(2 * (near.high - near.low), 0.5 * middle, 0.2)
            known[key] = entry(
                middle, max(0.0, middle - spread / 2), middle + spread, 0, 0,
                f"not observed: as {other}, band widened",
            )  # fmt: skip
    return dict(sorted(known.items()))


_PER_PEER_TRIAL: Final = Coefficient(0.04, 0.0, 0.08, 0, 0, "not observed")
_PER_PEER: Final = Coefficient(1.0, 0.2, 1.5, 0, 0, "not observed")

# key -> the key that stands in for it, and what is added (GiB)
_NEIGHBOURS: Final[dict[str, tuple[str, float]]] = {
    "own/tp": ("own-trial/tp", -1.5),  # without what the graph trial leaves behind
    "own/one": ("own-trial/one", -0.1),
    "own-trial/pp-first": ("own-trial/one", -0.1),
    "v0-parts/one": ("own/one", 0.0),
    "v0-device/one": ("v1-all/one", 0.0),
    "own/pp-first": ("own-trial/pp-first", 0.0),
    "own/pp-last": ("own-trial/pp-first", 0.1),
    "own-trial/pp-last": ("own-trial/pp-first", 0.1),
    "own-early/one": ("own/one", 0.0),
    "own-early/pp-first": ("own-trial/pp-first", 0.3),
    "own-early/pp-last": ("own-trial/pp-first", 0.3),
    "v1-all/one": ("own/one", 0.5),
    "v1-all/pp-first": ("own-early/pp-first", 0.5),
    "v1-all/pp-last": ("own-early/pp-last", 0.5),
    "v0-device/tp": ("v0-device/one", 0.0),
    "v0-device/pp-first": ("v0-device/one", 0.0),
    "v0-device/pp-last": ("v0-device/one", 0.0),
    "v0-parts/pp-first": ("v0-parts/one", 0.2),
    "v0-parts/pp-last": ("v0-parts/one", 0.2),
    "delta/one": ("own/one", 0.0),  # the graph trial comes after the measurement
    "delta/tp": ("own/tp", 0.0),
    "delta/pp-first": ("own/pp-first", 0.0),
    "delta/pp-last": ("own/pp-last", 0.0),
}
