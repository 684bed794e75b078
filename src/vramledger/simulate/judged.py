"""A contract held against a simulated run, and the requests that met every threshold."""

from dataclasses import field
from math import ceil, isinf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.simulate.output_gaps import Gaps
from vramledger.simulate.percentiles import percentile
from vramledger.units import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_HOUR_S: Final = 3600.0
_ROUNDING: Final = 1e-6  # 1 / (1 - 0.95) is a little above 20
_ITL: Final = "itl_s"
_WAITS: Final = frozenset(
    {"ttft_s", "queue_s"}
)  # which a client that leaves may never see the end of


@frozen
class Amount:
    """What was found and its threshold: seconds, a share (0..1) or requests an hour, as `name` says."""

    name: str  # "ttft_s", "success", "requests_per_hour"
    value: float
    threshold: float


@frozen
class TooFew:
    """How many requests a percentile was found of, and how many it needs."""

    counted: int
    needed: int


@frozen
class Line:
    """One threshold: its words, what was found, and whether it holds; None where it was not checked.

    `few` is set where it cannot be judged because too few requests have such a figure.
    """

    asked: str
    found: str
    holds: bool | None
    amount: Amount | None = field(
        default=None, compare=False
    )  # the same as a number, where it is one
    few: TooFew | None = None


@frozen
class Served:
    """What a contract is held against: arrays of one length, a row a request."""

    input_tokens: "Array"
    output_tokens: "Array"
    ok: "Array"
    cancelled: "Array"  # as the workload planned
    stayed: "Array"  # seconds until it ended, NaN where it did not
    latency: "Mapping[str, Array]"  # seconds, infinite for failures
    gaps: Gaps
    span_s: float
    queue_drains: bool
    at: "Callable[[Array, float], float | None]" = percentile  # of values without NaN's part


def judged(contract: Contract, served: Served) -> tuple[Line, ...]:
    """Every threshold of the contract."""
    found = [
        _latency(name, limit, share, served)
        for name, limits in contract.latency.items()
        for limit in limits
        for share in limit.percentiles
    ]
    if contract.success is not None:
        found.append(_success(contract, contract.success, served))
    if contract.queue_must_drain:
        said = "it drains" if served.queue_drains else "it does not"
        found.append(Line("the queue drains", said, served.queue_drains))
    if contract.done_by is not None:
        found.append(Line(f"done by {contract.done_by}", "not checked", None))
    if contract.requests_per_hour is not None:
        hourly = goodput_per_hour(contract, served)
        least = contract.requests_per_hour
        amount = Amount("requests_per_hour", hourly, least)
        asked = f"{plain(least)} requests an hour"
        found.append(Line(asked, f"{hourly:,.0f}", hourly >= least, amount))
    found += [
        Line(asked, "not checked", None)
        for asked in (*contract.server_lines, *contract.service_lines)
    ]
    return tuple(found)


def goodput_per_hour(contract: Contract, served: Served) -> float:
    """Requests an hour that ended as asked within every latency limit."""
    good = good_requests(contract, served)
    return float(good.sum()) / max(served.span_s, 1e-9) * _HOUR_S


def good_requests(contract: Contract, served: Served) -> "Array":
    """Which requests ended as asked within every latency limit.

    One request meets a limit when it is within its highest percentile's seconds. ITL is a figure of
    output events and is left to the contract's own line.
    """
    good: Array = served.ok.copy()
    for name, limits in contract.latency.items():
        if name not in served.latency:
            continue
        for limit in limits:
            most = limit.percentiles[max(limit.percentiles)]
            values = served.latency[name]
            within = ~(values > most)  # what has no such figure cannot break it
            good &= within | ~in_class(limit, served)
    return good


def _success(contract: Contract, least: float, served: Served) -> Line:
    """The share that ended as asked, of all but those who left as planned while no limit was broken."""
    asked = f"success >= {least:.2%}"
    counted = counted_for_success(contract, served)
    if not counted.any():
        return Line(asked, "nothing to count", None)
    success = float(served.ok[counted].mean())
    return Line(asked, f"{success:.2%}", success >= least, Amount("success", success, least))


def counted_for_success(contract: Contract, served: Served) -> "Array":
    """Which requests the success line counts: all but those who left as planned while no limit was broken."""
    found: Array = served.ok | ~_left_in_time(contract, served)
    return found


def _left_in_time(contract: Contract, served: Served) -> "Array":
    """Cancelled as planned while no limit was broken yet: neither served nor failed."""
    kept = served.cancelled.copy()
    for name, limits in contract.latency.items():
        if name not in served.latency:
            continue
        for limit in limits:
            most = limit.percentiles[max(limit.percentiles)]
            kept &= ~(_seen(name, most, served) > most) | ~in_class(limit, served)
    return kept


def _latency(name: str, limit: LatencyLimit, share: float, served: Served) -> Line:
    most = limit.percentiles[share]
    asked = line_words(name, limit, share)
    if name == _ITL and limit.is_of_all:
        value, counted = served.gaps.at(share), int(served.gaps.events.sum())
    elif name in served.latency:
        seen = seen_of(name, limit, share, served)
        value, counted = served.at(seen, share), int((~np.isnan(seen)).sum())
    else:
        return Line(asked, "not checked", None)
    if value is None:
        return Line(asked, "nothing to count", None)
    said, amount = "inf" if isinf(value) else f"{value:.4g}", Amount(name, value, most)
    needed = fewest_for(share)
    if counted < needed:
        return Line(asked, said, None, amount, TooFew(counted, needed))
    return Line(asked, said, value <= most, amount)


def line_words(name: str, limit: LatencyLimit, share: float) -> str:
    """A line of a latency in words."""
    return f"{name} p{share * 100:g} <= {plain(limit.percentiles[share])}{limit.reach}"


def seen_of(name: str, limit: LatencyLimit, share: float, served: Served) -> "Array":
    """What a line of a latency is about, of the requests it is for: seconds, NaN for those it does not count."""
    found: Array = _seen(name, limit.percentiles[share], served)[in_class(limit, served)]
    return found


def fewest_for(share: float) -> int:
    """The values that a percentile needs, so that one of them lies beyond it: 1 / (1 - share).

    The largest value (a share of 1) needs one.
    """
    return 1 if share >= 1 else ceil(1 / (1 - share) - _ROUNDING)


def fewest_requests(contract: Contract) -> int:
    """The requests without which a latency limit of the contract cannot be judged; 1 where none has any."""
    shares = (
        share
        for limits in contract.latency.values()
        for limit in limits
        for share in limit.percentiles
    )
    return max(map(fewest_for, shares), default=1)


def _seen(name: str, most: float, served: Served) -> "Array":
    """A latency of every request; a client that left in vain after more than `most` waited so long at least.

    One that left before that broke no such limit, and is not counted.
    """
    values = served.latency[name]
    if name not in _WAITS:
        return values
    in_vain = served.cancelled & np.isnan(values) & (served.stayed > most)
    found: Array = np.where(in_vain, served.stayed, values)
    return found


def in_class(limit: LatencyLimit, served: Served) -> "Array":
    """The requests that a row of limits is for."""
    found: Array = np.ones(len(served.ok), np.bool_)
    for tokens, least, most in (
        (served.input_tokens, limit.input_min, limit.input_max),
        (served.output_tokens, limit.output_min, limit.output_max),
    ):
        if least is not None:
            found &= tokens >= least
        if most is not None:
            found &= tokens <= most
    return found
