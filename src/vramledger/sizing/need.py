"""What must be held: one scenario's lengths and requests in flight, and the share kept free."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Final

from vramledger.evidence import Figure
from vramledger.sizing.demand import Length

MANY_REQUESTS: Final = 8  # from here on the law of large numbers keeps the sum near its mean
AUTO_HEADROOM: Final = {"latency": 0.25, "throughput": 0.10}
LONGEST_SHARE: Final = 0.999


class Kind(StrEnum):
    """What the scenario is judged by."""

    LATENCY = "latency"  # people wait: the peak in flight must be held
    THROUGHPUT = "throughput"  # work queues: the longest request must be held, the rest waits


@dataclass(frozen=True, slots=True)
class Need:
    """One scenario. `concurrent` counts requests in flight at its peak, over all replicas."""

    name: str
    kind: Kind
    lengths: tuple[Length, ...]
    concurrent: Figure
    headroom: float | None = None  # share of the pool kept free; None: by kind and number

    @property
    def longest(self) -> int:
        """Tokens of the longest request."""
        return max(length.input_tokens + length.output_tokens for length in self.lengths)

    @property
    def mean_output(self) -> float:
        weight = sum(length.weight for length in self.lengths)
        return sum(length.output_tokens * length.weight for length in self.lengths) / weight

    def rare_tokens(self, share: float = LONGEST_SHARE) -> int:
        """Full length that all but 1 - `share` of the requests stay within."""
        pairs = sorted((x.input_tokens + x.output_tokens, x.weight) for x in self.lengths)
        target = share * sum(weight for _, weight in pairs)
        seen = 0.0
        for tokens, weight in pairs:
            seen += weight
            if seen >= target:
                return tokens
        return pairs[-1][0]


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
    rare = blocks_at(need.rare_tokens())
    return Headroom(
        min(rare, usable_blocks),
        f"one request of {need.rare_tokens()} tokens (99.9th percentile; few requests in flight)",
    )
