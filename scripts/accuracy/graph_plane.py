"""Memory of CUDA graphs: a plane over layers, hidden width, ranks and experts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from accuracy.measure import Measured
from accuracy.statistic import Fitted, Sample, band, centre, entry, family
from vramledger.engine.vllm.coefficients import Coefficient

_WIDTH: Final = 4096


def graph_terms(rows: Sequence[Measured]) -> Fitted:
    trial = [row for row in rows if row.key.family == "own-trial"]
    first = [row for row in rows if not row.deployment.rules.v1 and row.row.graphs_gib]
    return {
        "graphs_v1": _plane([(row, row.row.graphs_gib) for row in trial]),
        "graphs_v0": _flat([Sample(row.row.model, row.row.graphs_gib or 0.0) for row in first]),
        "graph_estimate": _plane([(row, row.graph_estimate_gib) for row in trial]),
    }


def _flat(samples: Sequence[Sample]) -> dict[str, Coefficient]:
    zero = Coefficient(0.0, 0.0, 0.0, len(samples), 0)
    return {"base": centre(samples), "width": zero, "split": zero, "experts": zero}


def _plane(pairs: Iterable[tuple[Measured, float | None]]) -> dict[str, Coefficient]:
    """Least squares over base, width, width per rank and experts; the band sits on the base."""
    seen = [(row, value) for row, value in pairs if value is not None]
    features = np.array([_features(row) for row, _ in seen])
    values = np.array([value for _, value in seen])
    models = [family(row.row.model) for row, _ in seen]
    whole = _solve(features, values)
    residuals = []
    for index, model in enumerate(models):
        kept = [i for i, other in enumerate(models) if other != model]
        apart = _solve(features[kept], values[kept])
        residuals.append(float(values[index] - features[index] @ apart))
    low, high = band(residuals, 0.05)
    names = ("base", "width", "split", "experts")
    plane = {
        name: entry(float(c), float(c), float(c), len(seen), len(set(models)))
        for name, c in zip(names, whole, strict=True)
    }
    base = plane["base"]
    plane["base"] = replace(base, low=round(base.value + low, 4), high=round(base.value + high, 4))
    return plane


def _features(row: Measured) -> tuple[float, float, float, float]:
    text, layout = row.deployment.model.text, row.deployment.layout
    width = text.layers / layout.pp * text.hidden / _WIDTH
    return (1.0, width, width / layout.tp, 0.0 if text.experts is None else 1.0)


_Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _solve(features: _Array, values: _Array) -> _Array:
    return np.asarray(np.linalg.lstsq(features, values, rcond=None)[0], dtype=np.float64)
