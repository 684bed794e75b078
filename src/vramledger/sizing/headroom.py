"""The share of a pool kept free on purpose, applied once."""

from collections.abc import Callable
from math import ceil

from vramledger.frozen import frozen
from vramledger.plan.headroom import AUTO_HEADROOM, LONGEST_SHARE, MANY_REQUESTS
from vramledger.plan.requirement import Kind
from vramledger.sizing.peaks import Peak


@frozen
class Headroom:
    """Blocks kept free in one replica's pool, and why that many."""

    blocks: int
    reason: str


def headroom(
    peak: Peak, usable_blocks: int, in_flight: float, blocks_at: Callable[[int], int]
) -> Headroom:
    """How many blocks to keep free for a replica with `in_flight` requests.

    A share of the pool; under a few requests at least one request of the 99.9th percentile's
    length, because there a single long one decides. A larger pool never holds less with it.
    """
    if peak.headroom is not None:
        return Headroom(ceil(peak.headroom * usable_blocks), f"{peak.headroom:.0%} as asked")
    share = AUTO_HEADROOM[peak.kind]
    if peak.kind is Kind.THROUGHPUT:
        return Headroom(ceil(share * usable_blocks), f"{share:.0%} ({peak.kind})")
    if in_flight >= MANY_REQUESTS:
        return Headroom(ceil(share * usable_blocks), f"{share:.0%} ({peak.kind}, many requests)")
    tokens = peak.longest_at(LONGEST_SHARE)
    rare = min(blocks_at(tokens), usable_blocks)
    if rare < share * usable_blocks:
        return Headroom(ceil(share * usable_blocks), f"{share:.0%} ({peak.kind})")
    kept = rare / max(1, usable_blocks)
    return Headroom(
        rare,
        f"one request of {tokens:,} tokens ({kept:.0%} of the pool; 99.9th percentile, few "
        "requests in flight)",
    )
