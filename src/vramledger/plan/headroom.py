"""The share of a KV pool kept free on purpose, where a plan states none."""

from collections.abc import Mapping
from typing import Final

from vramledger.plan.requirement import Kind

MANY_REQUESTS: Final = 8  # from here on the law of large numbers keeps the sum near its mean
AUTO_HEADROOM: Final[Mapping[Kind, float]] = {Kind.LATENCY: 0.25, Kind.THROUGHPUT: 0.10}
LONGEST_SHARE: Final = 0.999


def kept_free(asked: float | None, kind: Kind, in_flight: float, longest: float) -> float:
    """The share (0..1) of one engine's pool that stays free with so many requests in flight.

    `asked` counts where it is stated; else it is a share by kind, and where people wait and few
    requests are in flight at least `longest`: what one request of the 99.9th percentile's length takes.
    """
    if asked is not None:
        return asked
    share = AUTO_HEADROOM[kind]
    if kind is Kind.THROUGHPUT or in_flight >= MANY_REQUESTS:
        return share
    return max(share, min(longest, 1.0))
