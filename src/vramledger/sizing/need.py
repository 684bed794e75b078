"""What must be held: one scenario's lengths and requests in flight, and the share kept free."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Final

from vramledger.evidence import Figure
from vramledger.plan.lengths import LengthDistribution
from vramledger.plan.requirement import Kind

MANY_REQUESTS: Final = 8  # from here on the law of large numbers keeps the sum near its mean
AUTO_HEADROOM: Final = {Kind.LATENCY: 0.25, Kind.THROUGHPUT: 0.10}
LONGEST_SHARE: Final = 0.999


@dataclass(frozen=True, slots=True)
class Need:
    """One scenario. `concurrent` counts requests in flight at its peak, over all replicas."""

    name: str
    kind: Kind
    lengths: LengthDistribution
    concurrent: Figure
    headroom: float | None = None  # share of the pool kept free; None: by kind and number


@dataclass(frozen=True, slots=True)
class Headroom:
    """Blocks kept free in one replica's pool, applied once, and why that many."""

    blocks: int
    reason: str


def headroom(
    need: Need, usable_blocks: int, in_flight: float, blocks_at: Callable[[int], int]
) -> Headroom:
    """How many blocks to keep free for a replica with `in_flight` requests.

    A share of the pool under many requests; one request of the 99.9th percentile's length under a
    few, because there a single long one decides.
    """
    if need.headroom is not None:
        return Headroom(ceil(need.headroom * usable_blocks), f"{need.headroom:.0%} as asked")
    share = AUTO_HEADROOM[need.kind]
    if in_flight >= MANY_REQUESTS or need.kind is Kind.THROUGHPUT:
        return Headroom(ceil(share * usable_blocks), f"{share:.0%} ({need.kind}, many requests)")
    tokens = need.lengths.total_at(LONGEST_SHARE)
    rare = blocks_at(tokens)
    return Headroom(
        min(rare, usable_blocks),
        f"one request of {tokens} tokens (99.9th percentile; few requests in flight)",
    )
