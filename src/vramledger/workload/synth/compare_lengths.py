"""Distances of lengths and of counts by name."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from vramledger.workload.profile.profile import Joint, Lengths
from vramledger.workload.synth.line import Line, judged
from vramledger.workload.synth.permutation import (
    Statistic,
    kolmogorov_smirnov,
    sampling_error,
    total_variation,
    wasserstein,
)
from vramledger.workload.synth.quantiles import steps_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KS: Final = "Kolmogorov-Smirnov"
MOVED: Final = "Wasserstein / mean"
VARIATION: Final = "total variation"


def length_lines(
    part: str, source: Lengths, made: Lengths, level: float, rng: "np.random.Generator"
) -> tuple[Line, ...]:
    """Kolmogorov-Smirnov and relative Wasserstein distance of one length."""
    if not (source.quantiles and made.quantiles and source.mean):
        return ()
    return quantile_lines(
        part, source.quantiles, made.quantiles, (source.count, made.count), level, rng, whole=True
    )


def quantile_lines(
    part: str,
    source: tuple[float, ...],
    made: tuple[float, ...],
    sizes: tuple[int, int],
    level: float,
    rng: "np.random.Generator",
    *,
    whole: bool,
) -> tuple[Line, ...]:
    """The same of any two lists of evenly spaced quantiles; `whole` says that values are whole numbers."""
    import numpy as np

    both = np.concatenate((source, made))
    points = np.unique(np.floor(both) if whole else both)
    counts = [
        steps_at(points, quantiles, whole=whole).shares * size
        for quantiles, size in zip((source, made), sizes, strict=True)
    ]
    moved = wasserstein(points, max(float(np.mean(source)), 1e-9))
    step = 1 / (len(source) - 1)
    return _lines(
        part,
        (counts[0], counts[1]),
        ((KS, kolmogorov_smirnov, step), (MOVED, moved, 0.0)),
        level,
        rng,
    )


def joint_line(
    source: Joint, made: Joint, level: float, rng: "np.random.Generator"
) -> tuple[Line, ...]:
    """Total variation over the cells of the joint histogram."""
    first = {(cell.input_bin, cell.output_bin): cell.requests for cell in source.cells}
    second = {(cell.input_bin, cell.output_bin): cell.requests for cell in made.cells}
    return _of_counts(
        "input x output", first, second, ((VARIATION, total_variation, 0.0),), level, rng
    )


def label_line(
    part: str,
    source: Mapping[str, int],
    made: Mapping[str, int],
    level: float,
    rng: "np.random.Generator",
) -> tuple[Line, ...]:
    """Total variation of counts by name; none where there is but one name."""
    if len({*source, *made}) < 2:
        return ()
    return _of_counts(part, source, made, ((VARIATION, total_variation, 0.0),), level, rng)


def number_line(
    part: str,
    source: Mapping[int, int],
    made: Mapping[int, int],
    level: float,
    rng: "np.random.Generator",
) -> tuple[Line, ...]:
    """Kolmogorov-Smirnov distance of counts by number."""
    return _of_counts(part, source, made, ((KS, kolmogorov_smirnov, 0.0),), level, rng)


Key = TypeVar("Key", str, int, tuple[int, int])
Measured = tuple[tuple[str, Statistic, float], ...]  # name, statistic, resolution


def _of_counts(
    part: str,
    source: Mapping[Key, int],
    made: Mapping[Key, int],
    measured: Measured,
    level: float,
    rng: "np.random.Generator",
) -> tuple[Line, ...]:
    import numpy as np

    names: list[Key] = sorted(source.keys() | made.keys())
    counts = (
        np.array([source.get(name, 0) for name in names], float),
        np.array([made.get(name, 0) for name in names], float),
    )
    return _lines(part, counts, measured, level, rng)


def _lines(
    part: str,
    counts: "tuple[NDArray[np.float64], NDArray[np.float64]]",
    measured: Measured,
    level: float,
    rng: "np.random.Generator",
) -> tuple[Line, ...]:
    if min(counts[0].sum(), counts[1].sum()) < 1:
        return ()
    shares = [each / each.sum() for each in counts]
    errors = sampling_error(*counts, tuple(statistic for _, statistic, _ in measured), level, rng)
    return tuple(
        judged(part, name, float(statistic(shares[0], shares[1])), error, resolution)
        for (name, statistic, resolution), error in zip(measured, errors, strict=True)
    )
