"""Distances of arrivals: the rate curve, and how uneven counts are in short and long windows.

The sampling error is that of two draws of one process: counts of a minute are Poisson around the
curve, and a minute is cut as `curve` cuts it. Whatever the profile's dispersion is that such a
process does not have therefore shows as a distance beyond it.
"""

from math import inf, log
from typing import TYPE_CHECKING, Final

from vramledger.workload.profile.profile import Arrival
from vramledger.workload.synth.curve import MINUTE, RateCurve, cut, rate_curve
from vramledger.workload.synth.line import Line, judged, open_line
from vramledger.workload.synth.permutation import of_draws

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DRAWS: Final = 200
_MOST_MINUTES: Final = 5_000  # of a draw; longer workloads vary less than is then said
_FEWEST_WINDOWS: Final = 5
_CURVE: Final = "sum of differences / requests"
_RATIO: Final = "|ln of the ratio|"


def arrival_lines(
    source: Arrival, made: Arrival, level: float, rng: "np.random.Generator"
) -> tuple[Line, ...]:
    """The rate curve by minute, and the dispersion of counts in each window both profiles have."""
    import numpy as np

    if not source.span_s or not made.span_s or not made.mean_per_s:
        return ()
    curve = rate_curve(source)
    seen = np.array(made.per_minute, float)
    expected = expected_minutes(curve, len(seen), made.span_s)
    scaled = expected * (seen.sum() / expected.sum())
    return (
        _curve_line(seen, scaled, level, rng),
        *_dispersion_lines(source, made, curve, scaled, level, rng),
    )


def expected_minutes(curve: RateCurve, minutes: int, seconds: float) -> "NDArray[np.float64]":
    """Requests that the curve, pass after pass, brings in each minute until `seconds`."""
    import numpy as np

    edges = np.append(MINUTE * np.arange(len(curve.per_minute)), curve.period_s)
    total = np.concatenate(([0.0], np.cumsum(curve.per_minute)))
    at = np.minimum(MINUTE * np.arange(minutes + 1.0), seconds)
    passes = np.floor(at / curve.period_s)
    until = passes * total[-1] + np.interp(at - passes * curve.period_s, edges, total)
    return np.diff(until)


def _curve_line(
    seen: "NDArray[np.float64]",
    expected: "NDArray[np.float64]",
    level: float,
    rng: "np.random.Generator",
) -> Line:
    import numpy as np

    shown = expected[:_MOST_MINUTES]
    first, second = rng.poisson(shown, (2, _DRAWS, len(shown)))
    pairs = np.abs(first - second).sum(axis=1) / max(shown.sum(), 1)
    distance = float(np.abs(seen - expected).sum() / expected.sum())
    return judged("requests by minute", _CURVE, distance, of_draws(pairs, level))


def _dispersion_lines(
    source: Arrival,
    made: Arrival,
    curve: RateCurve,
    expected: "NDArray[np.float64]",
    level: float,
    rng: "np.random.Generator",
) -> tuple[Line, ...]:
    import numpy as np

    cells = int(np.prod([split.parts for split in curve.splits], dtype=int))
    step = MINUTE / cells
    lines = []
    draws = [
        _drawn(minutes, curve, rng) for minutes in (_whole(curve.per_minute), _whole(expected))
    ]
    for window in source.dispersion:
        if window not in made.dispersion:
            continue
        part = f"dispersion over {float(window):g} s"
        ones, others = source.dispersion[window], made.dispersion[window]
        distance = _log_ratio(ones, others)
        if float(window) % step or min(len(d[0]) * step for d in draws) < _FEWEST_WINDOWS * float(
            window
        ):
            lines.append(open_line(part, _RATIO, distance, "too few such windows to say"))
            continue
        found = [dispersions(each, round(float(window) / step)) for each in draws]
        pairs = np.abs(np.log(np.maximum(found[0], 1e-9) / np.maximum(found[1], 1e-9)))
        lines.append(judged(part, _RATIO, distance, of_draws(pairs, level)))
    return tuple(lines)


def _whole(per_minute: "NDArray[np.float64]") -> "NDArray[np.float64]":
    return per_minute[:-1][:_MOST_MINUTES]


def _drawn(
    expected: "NDArray[np.float64]", curve: RateCurve, rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    """Counts of the smallest windows, shape (draws, windows)."""
    import numpy as np

    counts = [cut(rng.poisson(expected), curve.splits, rng) for _ in range(_DRAWS)]
    return np.array(counts)


def dispersions(counts: "NDArray[np.int64]", together: int) -> "NDArray[np.float64]":
    """Variance over mean of the counts of so many small windows together, one a row."""
    import numpy as np

    windows = counts.shape[1] // together
    summed = counts[:, : windows * together].reshape(len(counts), windows, together).sum(axis=2)
    mean = summed.mean(axis=1)
    found: NDArray[np.float64] = summed.var(axis=1) / np.maximum(mean, 1e-12)
    return found


def _log_ratio(one: float, other: float) -> float:
    if one <= 0 or other <= 0:
        return 0.0 if one == other else inf
    return abs(log(one / other))
