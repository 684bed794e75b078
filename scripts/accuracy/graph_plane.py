"""Memory of CUDA graphs: a plane over graphs, layers, hidden width, ranks and experts."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final

import numpy as np

from accuracy.measure import Measured
from accuracy.statistic import Fitted, Sample, centre, entry, family
from vramledger.engine.vllm.coefficients import Coefficient
from vramledger.engine.vllm.graph_memory import captures, graphs_captured
from vramledger.hardware.accelerator import Vendor

_WIDTH: Final = 4096
_GRAPHS: Final = 100
_PER_GRAPH: Final = [0, 1, 3]  # columns of `_features` that grow with the graphs


def graph_terms(rows: Sequence[Measured]) -> Fitted:
    trial = [row for row in rows if _like_a_trial(row)]
    first = [row for row in rows if not row.deployment.rules.v1 and row.row.graphs_gib]
    return {
        "graphs_v1": _plane([(row, row.row.graphs_gib) for row in trial]),
        "graphs_v0": _flat([Sample(row.row.model, row.row.graphs_gib or 0.0) for row in first]),
        "graph_estimate": _plane([(row, row.graph_estimate_gib) for row in trial]),
    }


def _like_a_trial(row: Measured) -> bool:
    """A version that tries graphs, on a GPU whose driver captures as CUDA does."""
    tries = row.deployment.rules.graph_estimate_run and captures(row.deployment)
    return tries and row.vendor is Vendor.NVIDIA


def _flat(samples: Sequence[Sample]) -> dict[str, Coefficient]:
    zero = Coefficient(0.0, 0.0, 0.0, len(samples), 0)
    base = centre(samples)
    spread = entry(1.0, base.low / base.value, base.high / base.value, base.observations, 2)
    return {"base": base, "width": zero, "joined": zero, "experts": zero, "spread": spread}


def _plane(pairs: Iterable[tuple[Measured, float | None]]) -> dict[str, Coefficient]:
    """Least squares over base, width and experts per hundred graphs, and what joined ranks add.

    The band is relative: `spread` is what a log shows over what the other models say, from the
    least to the most, because a few settings of a few cards stand for all.
    """
    seen = [(row, value) for row, value in pairs if value is not None]
    graphs = np.array([graphs_captured(row.deployment) / _GRAPHS for row, _ in seen])
    features = np.array([_features(row) for row, _ in seen])
    features[:, _PER_GRAPH] *= graphs[:, None]
    values = np.array([value for _, value in seen])
    models = [family(row.row.model) for row, _ in seen]
    whole = _solve(features, values)
    residuals = []
    for index, model in enumerate(models):
        kept = [i for i, other in enumerate(models) if other != model]
        apart = _solve(features[kept], values[kept])
        residuals.append(float(values[index] / (features[index] @ apart)) - 1)
    settings = _one_a_setting([row for row, _ in seen], residuals)
    names = ("base", "width", "joined", "experts")
    plane = {
        name: entry(float(c), float(c), float(c), len(seen), len(set(models)))
        for name, c in zip(names, whole, strict=True)
    }
    low, high = min(settings), max(settings)
    plane["spread"] = entry(1.0, 1 + low, 1 + high, len(seen), len(set(models)))
    return plane


def _one_a_setting(rows: Sequence[Measured], residuals: Sequence[float]) -> list[float]:
    """The median of what logs of one model on one card and as many ranks show."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for row, residual in zip(rows, residuals, strict=True):
        card = row.deployment.accelerator.architecture
        found.setdefault((family(row.row.model), card, row.row.tp), []).append(residual)
    return [median(values) for values in found.values()]


def _features(row: Measured) -> tuple[float, float, float, float]:
    text, layout = row.deployment.model.text, row.deployment.layout
    width = text.layers / layout.pp * text.hidden / _WIDTH
    return (1.0, width, float(layout.tp > 1), 0.0 if text.experts is None else 1.0)


_Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _solve(features: _Array, values: _Array) -> _Array:
    return np.asarray(np.linalg.lstsq(features, values, rcond=None)[0], dtype=np.float64)
