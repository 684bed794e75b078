"""Which figures are compared, and each of them between one run of A and one of B."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.compare.matching import Pairs
from vramledger.compare.records import NAMES, Records
from vramledger.compare.statistic import (
    Contrast,
    mean_ratio,
    mean_ratio_paired,
    percentile_ratio,
    share,
    share_paired,
)
from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Booleans = np.ndarray[Any, np.dtype[np.bool_]]

SHARES: Final = {"mean": None, "p50": 0.5, "p95": 0.95, "p99": 0.99}
OK: Final = "ok_share"
RATES: Final = ("requests_per_s", "output_tokens_per_s")
_BINS: Final = 200
_NEGLIGIBLE: Final = 1e-9


@frozen
class Figure:
    """A figure to compare: a latency's mean or percentile, the share that ended as asked, or a rate."""

    name: str
    statistic: str | None

    @property
    def is_share(self) -> bool:
        """Whether it is compared by its difference."""
        return self.name == OK


def figures_of(a: Records, b: Records, *, closed: bool) -> tuple[Figure, ...]:
    """Those that both sides tell; the first answer only where it is not the first token.

    Rates are figures of the server in a `closed` loop alone: in an open one the load decides them.
    """
    told = [name for name in NAMES if _told(a, name) and _told(b, name) and not _repeats(a, b, name)]  # fmt: skip
    latencies = [Figure(name, statistic) for name in told for statistic in SHARES]
    rates = RATES if closed else ()
    return (*latencies, Figure(OK, None), *(Figure(name, None) for name in rates))


def _told(one: Records, name: str) -> bool:
    import numpy as np

    return bool((~np.isnan(one.values[name]) & one.ok).any())


def _repeats(a: Records, b: Records, name: str) -> bool:
    import numpy as np

    if name != "first_answer_s":
        return False
    return all(
        np.array_equal(each.values[name], each.values["ttft_s"], equal_nan=True) for each in (a, b)
    )


def paired(figure: Figure, pairs: Pairs, among: "Booleans | None" = None) -> Contrast | None:
    """Of requests that both sides were sent; latencies of those that both ended as asked, or of those `among` them."""
    import numpy as np

    if figure.name in RATES:
        return None
    if figure.is_share:
        kept = ~(pairs.a.cancelled | pairs.b.cancelled)
        return share_paired(pairs.a.ok[kept].astype(float), pairs.b.ok[kept].astype(float))
    one, other = pairs.a.values[figure.name], pairs.b.values[figure.name]
    kept = (pairs.both_ok if among is None else among) & ~np.isnan(one) & ~np.isnan(other)
    part = SHARES[figure.statistic or "mean"]
    a, b = one[kept], other[kept]
    return mean_ratio_paired(a, b) if part is None else percentile_ratio(a, b, part, paired=True)


def unpaired(figure: Figure, a: Records, b: Records) -> Contrast | None:
    """Of everything that either side was sent, its successes for latencies."""
    if figure.name in RATES:
        return mean_ratio(_rates(a, figure.name), _rates(b, figure.name))
    if figure.is_share:
        return share(*(each.ok[~each.cancelled].astype(float) for each in (a, b)))
    one, other = (_values(each, figure.name) for each in (a, b))
    part = SHARES[figure.statistic or "mean"]
    return mean_ratio(one, other) if part is None else percentile_ratio(one, other, part, paired=False)  # fmt: skip


def _values(one: Records, name: str) -> "Floats":
    import numpy as np

    found: Floats = one.values[name][one.ok & ~np.isnan(one.values[name])]
    return found


def _rates(one: Records, name: str) -> "Floats":
    """A rate of what ended as asked in each of equal stretches of the measured time; none where nothing did."""
    import numpy as np

    done, sent = one.columns["done_s"][one.ok], one.columns["dispatched_s"]
    if not len(done) or np.isnan(done).all() or np.isnan(sent).all():
        return np.zeros(0)
    begin, end = float(np.nanmin(sent)), float(np.nanmax(done))
    if not end > begin:
        return np.zeros(0)
    weights = None if name == RATES[0] else np.nan_to_num(one.columns["output_tokens_got"][one.ok])
    counts, edges = np.histogram(done, bins=_BINS, range=(begin, end), weights=weights)
    found: Floats = counts / (edges[1] - edges[0])
    return found
