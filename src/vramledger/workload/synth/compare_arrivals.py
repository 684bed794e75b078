"""Distances of arrivals: the rate curve, and how uneven counts are in short and long windows.

The sampling error is that of two draws of one process: counts of a step (a minute, or longer where the
source is of weeks) are Poisson around the curve, and a step is cut as `curve` cuts it. Whatever the profile's dispersion is that such a
process does not have therefore shows as a distance beyond it.
"""

from collections.abc import Iterator
from math import inf, log, prod
from typing import TYPE_CHECKING, Final

from vramledger.workload.profile.arrivals import together as steps_together
from vramledger.workload.profile.profile import Arrival
from vramledger.workload.synth.curve import MINUTE, RateCurve, cut_all, rate_curve
from vramledger.workload.synth.line import Line, judged, open_line
from vramledger.workload.synth.permutation import of_draws

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DRAWS: Final = 200
_MOST_STEPS: Final = 5_000  # of a draw; longer workloads vary less than is then said
_FEWEST: Final = 5  # windows below which nothing is judged
_CURVE: Final = "sum of differences / requests"
_RATIO: Final = "|ln of the ratio|"
_SHARE: Final = "difference of shares"


def arrival_lines(
    source: Arrival, made: Arrival, level: float, rng: "np.random.Generator"
) -> tuple[Line, ...]:
    """The rate curve by step, and the dispersion of counts in each window both profiles have."""
    import numpy as np

    if not source.span_s or not made.span_s or not made.mean_per_s:
        return ()
    curve = rate_curve(source)
    step_s = max(curve.step_s, made.step_s)  # each of the steps divides the next
    seen = steps_together(np.array(made.per_step, float), step_s // made.step_s)
    steps = -(-len(made.per_step) * made.step_s // curve.step_s)
    by_curve = expected_steps(curve, steps, made.span_s)
    by_curve *= seen.sum() / by_curve.sum()
    expected = steps_together(by_curve, step_s // curve.step_s)
    return (
        _curve_line(seen, expected, step_s, level, rng),
        *_window_lines(source, made, curve, by_curve, level, rng),
    )


def expected_steps(curve: RateCurve, steps: int, seconds: float) -> "NDArray[np.float64]":
    """Requests that the curve, pass after pass, brings in each of so many steps until `seconds`."""
    import numpy as np

    edges = np.append(curve.step_s * np.arange(len(curve.per_step)), curve.period_s)
    total = np.concatenate(([0.0], np.cumsum(curve.per_step)))
    at = np.minimum(curve.step_s * np.arange(steps + 1.0), seconds)
    passes = np.floor(at / curve.period_s)
    until = passes * total[-1] + np.interp(at - passes * curve.period_s, edges, total)
    return np.diff(until)


def _curve_line(
    seen: "NDArray[np.float64]",
    expected: "NDArray[np.float64]",
    step_s: int,
    level: float,
    rng: "np.random.Generator",
) -> Line:
    import numpy as np

    shown = expected[:_MOST_STEPS]
    first, second = rng.poisson(shown, (2, _DRAWS, len(shown)))
    pairs = np.abs(first - second).sum(axis=1) / max(shown.sum(), 1)
    distance = float(np.abs(seen - expected).sum() / expected.sum())
    by = "minute" if step_s == MINUTE else f"{step_s // MINUTE} minutes"
    return judged(f"requests by {by}", _CURVE, distance, of_draws(pairs, level))


def _window_lines(
    source: Arrival,
    made: Arrival,
    curve: RateCurve,
    expected: "NDArray[np.float64]",
    level: float,
    rng: "np.random.Generator",
) -> Iterator[Line]:
    """For each window that both profiles state, its dispersion and how many of it are empty."""
    step = curve.step_s // prod(split.parts for split in curve.splits)
    draws = [_drawn(each, curve, rng) for each in (_whole(curve.per_step), _whole(expected))]
    for window in (w for w in source.dispersion if w in made.dispersion):
        seconds = float(window)
        ratio = _log_ratio(source.dispersion[window], made.dispersion[window])
        if seconds % step or min(each.shape[1] for each in draws) * step < _FEWEST * seconds:
            yield open_line(
                f"dispersion over {seconds:g} s", _RATIO, ratio, "too few windows to say"
            )
            continue
        ones, others = (together(each, round(seconds / step)) for each in draws)
        pairs = _log_ratios(dispersions(ones), dispersions(others))
        yield judged(f"dispersion over {seconds:g} s", _RATIO, ratio, of_draws(pairs, level))
        if window in source.empty and window in made.empty:
            shares = abs((ones == 0).mean(axis=1) - (others == 0).mean(axis=1))
            found = abs(_empty_share(source, window) - _empty_share(made, window))
            yield judged(f"empty {seconds:g} s", _SHARE, found, of_draws(shares, level))


def _empty_share(arrival: Arrival, window: str) -> float:
    return arrival.empty[window] / max(1.0, (arrival.span_s or 0.0) // float(window))


def _whole(per_step: "NDArray[np.float64]") -> "NDArray[np.float64]":
    return per_step[:-1][:_MOST_STEPS]


def _drawn(
    expected: "NDArray[np.float64]", curve: RateCurve, rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    """Counts of the smallest windows, shape (draws, windows)."""
    import numpy as np

    counts = [cut_all(rng.poisson(expected), curve.splits, rng) for _ in range(_DRAWS)]
    return np.array(counts)


def together(counts: "NDArray[np.int64]", windows: int) -> "NDArray[np.int64]":
    """Counts of so many windows together, shape (draws, larger windows); a rest is left out."""
    larger = counts.shape[1] // windows
    found: NDArray[np.int64] = (
        counts[:, : larger * windows].reshape(len(counts), larger, windows).sum(axis=2)
    )
    return found


def dispersions(counts: "NDArray[np.int64]") -> "NDArray[np.float64]":
    """Variance over mean of the counts of each row."""
    import numpy as np

    found: NDArray[np.float64] = counts.var(axis=1) / np.maximum(counts.mean(axis=1), 1e-12)
    return found


def _log_ratios(
    ones: "NDArray[np.float64]", others: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    import numpy as np

    found: NDArray[np.float64] = np.abs(np.log(np.maximum(ones, 1e-9) / np.maximum(others, 1e-9)))
    return found


def _log_ratio(one: float, other: float) -> float:
    if one <= 0 or other <= 0:
        return 0.0 if one == other else inf
    return abs(log(one / other))
