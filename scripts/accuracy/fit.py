"""Fit the calibrated terms to the observations, with bands from held-out residuals.

Every term is a small robust statistic: a median over rows, or a least-squares plane for graph
memory. The band of a term is the range of its residuals when the row's model is left out of the
fit, so that a band never rests on the row it is asked to hold.
"""

from collections.abc import Sequence
from typing import Final

from accuracy.graph_plane import graph_terms
from accuracy.measure import LIKE_CUDA, Measured
from accuracy.non_torch import non_torch_terms
from accuracy.statistic import (
    ENOUGH_MODELS,
    ROUNDING,
    Fitted,
    Sample,
    band,
    centre,
    entry,
    family,
)
from vramledger.engine.vllm.coefficients import Coefficient
from vramledger.hardware.accelerator import Vendor


def architectures(rows: Sequence[Measured]) -> dict[str, tuple[str, ...]]:
    """Which GPU architectures the non-torch figures of a family were seen on."""
    seen: dict[str, set[str]] = {}
    for row in rows:
        if row.non_torch is not None and row.vendor in LIKE_CUDA:
            seen.setdefault(row.key.family, set()).add(row.deployment.accelerator.architecture)
    return {name: tuple(sorted(found)) for name, found in sorted(seen.items())}


def fit(rows: Sequence[Measured]) -> Fitted:
    """Every term the package asks for."""
    return {
        **non_torch_terms(rows),
        "context": _context(rows),
        **graph_terms(rows),
        "activation": _activation(rows),
        "weights": _weights(rows),
    }


def _context(rows: Sequence[Measured]) -> dict[str, Coefficient]:
    found: dict[str, list[Sample]] = {}
    for row in rows:
        nvidia = row.vendor is Vendor.NVIDIA
        if nvidia and row.free_gib is not None and row.row.total_gib is not None:
            alone = row.deployment.layout.world == 1
            sample = Sample(family(row.row.model), row.row.total_gib - row.free_gib)
            found.setdefault("one" if alone else "tp", []).append(sample)
    return {key: centre(samples) for key, samples in found.items()}


def _activation(rows: Sequence[Measured]) -> dict[str, Coefficient]:
    """Residuals only: the structure has no fitted value."""
    found: dict[str, list[float]] = {}
    models: dict[str, set[str]] = {}
    for row in rows:
        if row.row.activation_gib is not None:
            key = f"{row.key.family}/{'multimodal' if row.multimodal else 'text'}"
            found.setdefault(key, []).append(row.row.activation_gib - row.activation)
            models.setdefault(key, set()).add(family(row.row.model))
    kept = {
        key: _residual(values, len(models[key]), _ACTIVATION_WIDTHS[key])
        for key, values in found.items()
        if len(models[key]) > 1
    }
    for name, width in _ACTIVATION_WIDTHS.items():
        kept.setdefault(name, entry(0.0, -width, width, 0, 0, "not observed: widened"))
    return dict(sorted(kept.items()))


# bands of groups that fewer than two models show: V0 reserves, unmeasured samplers, encoders
_ACTIVATION_WIDTHS: Final = {
    "v0-device/text": 0.3,
    "v0-device/multimodal": 1.0,
    "v0-parts/text": 0.05,
    "v0-parts/multimodal": 1.0,
    "v1-all/text": 0.1,
    "v1-all/multimodal": 1.0,
    "own-early/text": 0.1,
    "own-early/multimodal": 0.5,
    "own/text": 0.05,
    "own/multimodal": 0.3,
    "own-trial/text": 0.02,
    "own-trial/multimodal": 0.15,
    "delta/text": 0.3,
    "delta/multimodal": 0.5,
}


def _residual(values: Sequence[float], models: int, unseen: float) -> Coefficient:
    """The band of the residuals; few models keep a share of the width of none."""
    low, high = band(values, ROUNDING)
    if models >= ENOUGH_MODELS:
        return entry(0.0, low, high, len(values), models)
    share = unseen / models
    note = "few models: band widened"
    return entry(0.0, min(low, -share), max(high, share), len(values), models, note)


def _weights(rows: Sequence[Measured]) -> dict[str, Coefficient]:
    """Relative residuals of weights, by how the bytes are known."""
    relative = [
        row.row.weights_gib / row.weights - 1
        for row in rows
        if row.row.weights_gib is not None and row.row.stated and row.vendor in LIKE_CUDA
    ]
    low, high = band(relative, 0.0001)
    seen = len({family(row.row.model) for row in rows})
    shared = entry(0.0, low, high, len(relative), seen)
    return {"derived": shared, "exact": shared}
