"""Latency lines: a percentile over everything that was offered, failures infinite, with its interval."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from vramledger.accept.lines.about import REQUESTS, About
from vramledger.accept.settling import in_words, more_requests
from vramledger.accept.verdict import Line, Said, held
from vramledger.methods.trialplan.decided import QUEUE
from vramledger.plan.requirement import LatencyLimit
from vramledger.simulate.judged import in_class, line_words, seen_of
from vramledger.statistics.estimate import Estimate, percentile_of

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[Any]]

_ITL: Final = "itl_s"
_MICRO: Final = 1e6


def latency_lines(about: About) -> Iterator[Line]:
    """Every line of a latency, in the contract's order."""
    reasons = {each.line: each.why for each in about.offered.told.unjudgeable}
    for name, limits in about.scenario.contract.latency.items():
        for limit in limits:
            for share in limit.percentiles:
                yield _line(about, name, limit, share, reasons)


def _line(
    about: About, name: str, limit: LatencyLimit, share: float, reasons: Mapping[str, str]
) -> Line:
    asked, most = line_words(name, limit, share), limit.percentiles[share]
    found, kept, what = _estimate(about, name, limit, share)
    if found is None:
        why = (
            reasons.get(name, "")
            or (about.offered.queue_untold if name == QUEUE else "")
            or "no request of the run has this figure"
        )
        return Line(asked, Said.INCONCLUSIVE, "s", threshold=most, reason=why, records=(REQUESTS,))
    said = held(found.low, found.high, most)
    why = reasons.get(name, "")
    settles = ""
    if why:
        said = Said.INCONCLUSIVE
    elif said is Said.INCONCLUSIVE:
        more = more_requests(kept, found.counted, found.independent, share, about.one_sided)
        settles = in_words(more, about.per_minute * _per_request(about, found), what)
        why = _open_words(found, share)
    return Line(
        asked, said, "s", found.value, found.low, found.high, most, why, (REQUESTS,), round(found.counted),
        found.independent, settles,
    )  # fmt: skip


def _estimate(
    about: About, name: str, limit: LatencyLimit, share: float
) -> tuple[Estimate | None, float, str]:
    """The percentile, how many keep the limit, and what was counted."""
    most, served = limit.percentiles[share], about.offered.served
    if name == _ITL:
        import numpy as np

        gaps = about.offered.gaps
        inside = in_class(limit, served)
        if not inside.all():
            gaps = gaps.taken(np.flatnonzero(inside))
        found = percentile_of(gaps.us, share, gaps.counts.astype(np.float64), about.level)
        return _in_seconds(found), float((gaps.us <= most * _MICRO).sum()), "output events"
    if name not in served.latency:
        return None, 0.0, ""
    seen = seen_of(name, limit, share, served)
    return percentile_of(seen, share, level=about.level), float((seen <= most).sum()), "requests"


def _in_seconds(found: Estimate | None) -> Estimate | None:
    from dataclasses import replace

    if found is None:
        return None
    error = None if found.error is None else found.error / _MICRO
    return replace(
        found, value=found.value / _MICRO, low=found.low / _MICRO, high=found.high / _MICRO, error=error
    )  # fmt: skip


def _per_request(about: About, found: Estimate) -> float:
    return found.counted / max(len(about.offered.found), 1)


def _open_words(found: Estimate, share: float) -> str:
    from math import inf

    if found.high == inf and found.value < inf:
        return (
            f"{found.counted:,.0f} say as much as {found.independent:,.0f} independent ones, and p{share * 100:g} has no upper "
            "bound of so few"
        )
    return "the limit lies within the interval"
