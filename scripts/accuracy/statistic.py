"""Small robust statistics: medians, and bands from residuals with each model left out in turn."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np

from vramledger.engine.vllm.coefficients import Coefficient

ROUNDING: Final = 0.005  # logs print to a hundredth of a GiB
_INSIDE: Final = 0.9  # share of held-out residuals a band is made to hold
ENOUGH_MODELS: Final = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a term, and the model that must be left out together with it."""

    model: str
    value: float


Fitted = dict[str, dict[str, Coefficient]]


def family(model: str) -> str:
    """Variants of one network count as one model: quantised copies, instruct tunes, owners."""
    name = model.rsplit("/", maxsplit=1)[-1].casefold()
    return re.split(r"-(?:instruct|quantized|fp8|it|chat|hf|awq|gptq|int4)", name)[0].replace(
        "meta-", ""
    )


def centre(samples: Sequence[Sample], floor: float = ROUNDING, note: str = "") -> Coefficient:
    """The median, with the band of residuals when each model is left out in turn."""
    values = [sample.value for sample in samples]
    middle = median(values)
    residuals = [
        sample.value - _median_without(samples, sample.model, middle) for sample in samples
    ]
    low, high = band(residuals, floor)
    models = len({sample.model for sample in samples})
    return entry(middle, middle + low, middle + high, len(values), models, note)


def _median_without(samples: Sequence[Sample], model: str, otherwise: float) -> float:
    others = [sample.value for sample in samples if sample.model != model]
    return median(others) if others else otherwise


def band(residuals: Sequence[float], floor: float) -> tuple[float, float]:
    """Ends that hold `_INSIDE` of the residuals, never narrower than the logs' rounding."""
    outside = (1 - _INSIDE) / 2
    low, high = np.quantile(residuals, (outside, 1 - outside))
    return min(float(low), -floor), max(float(high), floor)


def wide_if_few(value: Coefficient) -> Coefficient:
    """Few models say little about others: a quarter of the value for one, less for each more."""
    if value.models >= ENOUGH_MODELS:
        return value
    half = max(0.25 * value.value / value.models, 0.02)
    return replace(
        value,
        low=round(max(0.0, min(value.low, value.value - half)), 4),
        high=round(max(value.high, value.value + half), 4),
        note="few models: band widened",
    )


def entry(
    value: float, low: float, high: float, observations: int, models: int, note: str = ""
) -> Coefficient:
    return Coefficient(round(value, 4), round(low, 4), round(high, 4), observations, models, note)
