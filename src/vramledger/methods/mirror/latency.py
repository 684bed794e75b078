"""Times of both sides, of the same requests."""

from collections.abc import Sequence
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.methods.mirror.row import Row
from vramledger.methods.shadow.intervals import CONFIDENCE, Estimate

_RESAMPLES: Final = 2000
_BATCH: Final = 20
PERCENTS: Final = (50, 95, 99)
NAMES: Final = ("ttft_s", "e2e_s", "gap_s")


@frozen
class Latency:
    """One time of both sides, seconds at `PERCENTS`; `ratio` is the median of B's over A's, request by request."""

    name: str
    requests: int
    a: tuple[float, ...]
    b: tuple[float, ...]
    ratio: Estimate


def latencies_of(rows: Sequence[Row], seed: int) -> tuple[Latency, ...]:
    """Of the requests whose client did not slow A down."""
    usable = [each for each in rows if not each.slowed]
    return tuple(_latency(name, usable, seed) for name in NAMES)


def _latency(name: str, rows: Sequence[Row], seed: int) -> Latency:
    import numpy as np

    both = [(getattr(each.a, name), getattr(each.b, name)) for each in rows]
    known = [(x, y) for x, y in both if x is not None and y is not None and x > 0 and y > 0]
    if not known:
        return Latency(
            name, 0, (), (), Estimate(None, reason="no request has this time on both sides")
        )
    a, b = np.array(known, dtype=float).T
    ratios = np.log(b / a)
    told = [tuple(float(each) for each in np.percentile(side, PERCENTS)) for side in (a, b)]
    return Latency(name, len(known), told[0], told[1], _median(ratios, seed))


def _median(logs: Any, seed: int) -> Estimate:
    """The median ratio, requests drawn again; its ends where there are enough of them."""
    import numpy as np

    value = float(np.exp(np.median(logs)))
    if len(logs) < 2 or (logs == logs[0]).all():
        return Estimate(value, value, value) if len(logs) > 1 else Estimate(value)
    from scipy.stats import bootstrap

    found = bootstrap(
        (logs,),
        np.median,
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=_BATCH,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Estimate(value, float(np.exp(found.low)), float(np.exp(found.high)))
