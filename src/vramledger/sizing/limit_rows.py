"""The table of context limits: result types."""

from typing import Final

from vramledger.engine.setting import Layout
from vramledger.frozen import frozen
from vramledger.sizing.turned_away import Turned

NEGLIGIBLE_GIB: Final = 0.01  # tables of block numbers grow by less


@frozen
class LimitRow:
    """One limit on one replica of the engine at hand. None where it does not serve."""

    turned: Turned
    serves: bool  # it starts, and holds one request of every scenario
    reason: str  # why it does not, "" where it does
    held: int | None = None  # requests in flight within the safe load, of those let through
    replicas: int | None = None  # for the whole load
    pool_gib: float | None = None  # KV pool of one GPU, pessimistic end
    cost_gib: float | None = None  # that pool, less than at the smallest limit that serves
    one_share: float | None = None  # of the pool: what one request of the full limit holds

    @property
    def limit(self) -> int:
        return self.turned.limit

    @property
    def costs_nothing(self) -> bool:
        """Whether it takes less of the pool than a decision could turn on."""
        return self.cost_gib is None or self.cost_gib < NEGLIGIBLE_GIB


@frozen
class ContextLimits:
    """The table of one candidate, and the limit that the rule proposes."""

    gpu: str
    layout: Layout  # of the candidate whose launch was assessed
    weights: str
    kv: str
    rows: tuple[LimitRow, ...]  # limits rising; at least one
    allowed: float  # share of the requests that may be turned away
    longest: int  # tokens of the longest request
    in_use: int  # the limit that the candidates were sized with
    full: bool  # whether the table was asked for
    proposed: LimitRow | None

    @property
    def costs_nothing(self) -> bool:
        """Whether no limit of the table takes memory of the pool on this engine."""
        return all(row.costs_nothing for row in self.rows)

    @property
    def counted(self) -> bool:
        """Whether the shares are counts of recorded requests."""
        return all(row.turned.counted for row in self.rows)
