"""Fit the calibrated terms to the observations, with bands from held-out residuals.

Every term is a small robust statistic: a median over rows, or a least-squares plane for graph
memory. The band of a term is the range of its residuals when the row's model is left out of the
fit, so that a band never rests on the row it is asked to hold.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np

from accuracy.measure import Measured
from vramledger.engine.vllm.coefficients import Coefficient
from vramledger.engine.vllm.overheads import COMMUNICATORS_INSIDE, switched_peers

_ROUNDING: Final = 0.005  # logs print to a hundredth of a GiB
_INSIDE: Final = 0.9  # share of held-out residuals a band is made to hold
_WIDTH: Final = 4096
_ENOUGH_MODELS: Final = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a term, and the model that must be left out together with it."""

    model: str
    value: float


Fitted = dict[str, dict[str, Coefficient]]


def architectures(rows: Sequence[Measured]) -> dict[str, tuple[str, ...]]:
    """Which GPU architectures the non-torch figures of a family were seen on."""
    seen: dict[str, set[str]] = {}
    for row in rows:
        if row.non_torch is not None:
            seen.setdefault(row.key.family, set()).add(row.deployment.accelerator.architecture)
    return {name: tuple(sorted(found)) for name, found in sorted(seen.items())}


def fit(rows: Sequence[Measured]) -> Fitted:
    """Every term the package asks for."""
    return {
        **non_torch_terms(rows),
        "context": _context(rows),
        **_graphs(rows),
        "activation": _activation(rows),
        "weights": _weights(rows),
    }


def family(model: str) -> str:
    """Variants of one network count as one model: quantised copies, instruct tunes, owners."""
    name = model.rsplit("/", maxsplit=1)[-1].casefold()
    return re.split(r"-(?:instruct|quantized|fp8|it|chat|hf|awq|gptq|int4)", name)[0].replace(
        "meta-", ""
    )


def centre(samples: Sequence[Sample], floor: float = _ROUNDING, note: str = "") -> Coefficient:
    """The median, with the band of residuals when each model is left out in turn."""
    values = [sample.value for sample in samples]
    middle = median(values)
    residuals = [
        sample.value - _median_without(samples, sample.model, middle) for sample in samples
    ]
    low, high = _band(residuals, floor)
    models = len({sample.model for sample in samples})
    return _coefficient(middle, middle + low, middle + high, len(values), models, note)


def _median_without(samples: Sequence[Sample], model: str, otherwise: float) -> float:
    others = [sample.value for sample in samples if sample.model != model]
    return median(others) if others else otherwise


def _band(residuals: Sequence[float], floor: float) -> tuple[float, float]:
    """Ends that hold `_INSIDE` of the residuals, never narrower than the logs' rounding."""
    outside = (1 - _INSIDE) / 2
    low, high = np.quantile(residuals, (outside, 1 - outside))
    return min(float(low), -floor), max(float(high), floor)


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
        value = row.non_torch
        known_card = row.row.gpu is not None or row.row.total_gib is not None
        if value is not None and value > 0 and known_card:
            found.setdefault(str(row.key), []).append(Sample(family(row.row.model), value))
    return found


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
    return _wide_if_few(centre(samples)) if samples else _PER_PEER


def _with_neighbours(
    fitted: dict[str, Coefficient], neighbours: dict[str, tuple[str, float]]
) -> dict[str, Coefficient]:
    """Keys nobody observed borrow a neighbour's value plus a shift, and twice its band."""
    known = {key: _wide_if_few(value) for key, value in fitted.items()}
    for key, (other, shift) in neighbours.items():
        if key not in known and other in known:
            near = known[other]
            middle = near.value + shift
            spread = max(2 * (near.high - near.low), 0.5 * middle, 0.2)
            known[key] = _coefficient(
                middle, max(0.0, middle - spread / 2), middle + spread, 0, 0,
                f"not observed: as {other}, band widened",
            )  # fmt: skip
    return dict(sorted(known.items()))


def _wide_if_few(value: Coefficient) -> Coefficient:
    """Few models say little about others: a quarter of the value for one, less for each more."""
    if value.models >= _ENOUGH_MODELS:
        return value
    half = max(0.25 * value.value / value.models, 0.02)
    return replace(
        value,
        low=round(max(0.0, min(value.low, value.value - half)), 4),
        high=round(max(value.high, value.value + half), 4),
        note="few models: band widened",
    )


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
    "delta/one": ("own-trial/one", 0.0),
    "delta/tp": ("own-trial/tp", 0.0),
    "delta/pp-first": ("own-trial/pp-first", 0.0),
    "delta/pp-last": ("own-trial/pp-first", 0.1),
}


def _context(rows: Sequence[Measured]) -> dict[str, Coefficient]:
    found: dict[str, list[Sample]] = {}
    for row in rows:
        if row.free_gib is not None and row.row.total_gib is not None:
            alone = row.deployment.layout.world == 1
            sample = Sample(family(row.row.model), row.row.total_gib - row.free_gib)
            found.setdefault("one" if alone else "tp", []).append(sample)
    return {key: centre(samples) for key, samples in found.items()}


def _graphs(rows: Sequence[Measured]) -> Fitted:
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
    low, high = _band(residuals, 0.05)
    names = ("base", "width", "split", "experts")
    plane = {
        name: _coefficient(float(c), float(c), float(c), len(seen), len(set(models)))
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
        key: _residual(values, len(models[key]))
        for key, values in found.items()
        if len(models[key]) > 1
    }
    for name, width in _ACTIVATION_WIDTHS.items():
        kept.setdefault(name, _coefficient(0.0, -width, width, 0, 0, "not observed: widened"))
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


def _residual(values: Sequence[float], models: int) -> Coefficient:
    low, high = _band(values, _ROUNDING)
    return _coefficient(0.0, low, high, len(values), models)


def _weights(rows: Sequence[Measured]) -> dict[str, Coefficient]:
    """Relative residuals of weights, by how the bytes are known."""
    relative = [
        row.row.weights_gib / row.weights - 1
        for row in rows
        if row.row.weights_gib is not None and row.row.stated
    ]
    low, high = _band(relative, 0.0001)
    seen = len({family(row.row.model) for row in rows})
    shared = _coefficient(0.0, low, high, len(relative), seen)
    return {"derived": shared, "exact": shared}


def _coefficient(
    value: float, low: float, high: float, observations: int, models: int, note: str = ""
) -> Coefficient:
    return Coefficient(round(value, 4), round(low, 4), round(high, 4), observations, models, note)
