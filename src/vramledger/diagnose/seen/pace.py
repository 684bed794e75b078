"""How fast the engine's steps were for their load, over time.

Time per token rises with the requests that run and the prompt tokens beside them; a robust line (Huber, by statsmodels) takes that out. What is left
is the pace: 1 is as the run's own line has it, 2 twice as slow. A stretch of other pace has a cause outside the load.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.diagnose.evidence import Evidence

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_FEWEST: Final = 8
_FIRST: Final = 0.2  # of the time: the beginning


@frozen
class Pace:
    """`by_window` is the pace, NaN where nothing was decoded. `first` is that of the beginning over that of the rest.

    `slow_s` is how long the beginning stayed slow. `ttft_more_s` and `step_more_s` are what its requests
    waited more for their first token and for each token after it, in seconds.
    """

    by_window: "Floats"
    first: float
    slow_s: float
    load_first: float
    ttft_first: float
    ttft_more_s: float
    step_more_s: float

    def beside(self, mask: "Truths") -> float:
        """The pace where the mask holds over that elsewhere; NaN where one of both is missing."""
        inside, outside = self._median(mask), self._median(~mask)
        return inside / outside if outside > 0 else np.nan

    def _median(self, mask: "Truths") -> float:
        told = self.by_window[mask & np.isfinite(self.by_window)]
        return float(np.median(told)) if len(told) >= 2 else np.nan


def pace_of(evidence: "Evidence") -> Pace:
    """The pace of a run by its windows."""
    itl = evidence.of("server_itl_s") if evidence.seen("server_itl_s") else evidence.of("tpot_s")
    running = evidence.of("running") if evidence.seen("running") else evidence.of("in_flight")
    prompts = np.nan_to_num(_prompts(evidence))
    told = np.isfinite(itl) & (itl > 0) & np.isfinite(running) & (running > 0)
    found = np.full(len(itl), np.nan)
    if told.sum() >= _FEWEST:
        found[told] = itl[told] / _line(itl[told], running[told], prompts[told])
    first, slow = _first(found, evidence.windows.widths_s)
    load = np.nan_to_num(evidence.of("in_flight"))
    arrivals = np.nan_to_num(evidence.of("arrivals_per_s"))
    return Pace(
        found,
        first,
        slow,
        _ratio(arrivals if arrivals.any() else load),
        *_early(evidence),
        _more(itl, slow, evidence),
    )


def _prompts(evidence: "Evidence") -> "Floats":
    for name in ("prompt_tokens_computed_per_s", "prompt_tokens_per_s", "prompt_arrivals_per_s"):
        if evidence.seen(name):
            return evidence.of(name)
    return evidence.windows.nothing


def _line(itl: "Floats", running: "Floats", prompts: "Floats") -> "Floats":
    """What the run's own line has for each window, never less than a tenth of its median."""
    from statsmodels.api import RLM, add_constant

    columns = [
        each / each.std()
        for each in (running, prompts)
        if each.std() > 1e-9 * max(float(np.abs(each).mean()), 1e-9)
    ]
    if not columns:
        return np.full(len(itl), float(np.median(itl)))
    design = add_constant(np.column_stack(columns), has_constant="add")
    scale = float(np.median(itl))
    try:
        fitted = RLM(itl / scale, design).fit(maxiter=50).fittedvalues * scale
    except (ValueError, ZeroDivisionError, np.linalg.LinAlgError):
        return np.full(len(itl), scale)
    if not np.isfinite(fitted).all():
        return np.full(len(itl), scale)
    found: Floats = np.maximum(fitted, 0.1 * scale)
    return found


def _first(pace: "Floats", widths: "Floats") -> tuple[float, float]:
    """The beginning's pace over that of the later half, and how long it stayed half as slow again."""
    at = np.flatnonzero(np.isfinite(pace))
    if len(at) < _FEWEST:
        return np.nan, 0.0
    late = float(np.median(pace[at[len(at) // 2 :]]))
    early = pace[at[: max(int(len(at) * _FIRST), 2)]] / late
    slow = 0
    while slow < len(early) and early[slow] >= 1.3:
        slow += 1
    return float(early[: max(slow, 2)].mean()), float(widths[at[:slow]].sum())


def _ratio(load: "Floats") -> float:
    """The load of the beginning over that of the rest."""
    count = max(int(len(load) * _FIRST), 1)
    later = load[count:]
    later = later[later > 0]
    return float(load[:count].mean() / later.mean()) if len(later) else np.nan


def _early(evidence: "Evidence") -> tuple[float, float]:
    """The median time to the first token of the first tenth of the requests over that of the later half, and how much more it is."""
    ttft = evidence.requests.ttft_s
    told = ttft[np.isfinite(ttft)]
    if len(told) < 20:
        return np.nan, np.nan
    early, late = told[: max(len(told) // 10, 5)], told[len(told) // 2 :]
    first, second = float(np.median(early)), float(np.median(late))
    return first / max(second, 1e-9), first - second


def _more(itl: "Floats", slow_s: float, evidence: "Evidence") -> float:
    """By how much a token of the slow beginning takes longer than one of the later half."""
    told = itl[np.isfinite(itl)]
    count = int(np.searchsorted(np.cumsum(evidence.windows.widths_s), slow_s)) + 1
    early = itl[:count][np.isfinite(itl[:count])]
    if len(told) < _FEWEST or not len(early):
        return np.nan
    return float(early.mean() - np.median(told[len(told) // 2 :]))
