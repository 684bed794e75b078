"""The memory account of a deployment, per rank: result types, no arithmetic of engines."""

from enum import StrEnum

from vramledger.engine.finding import Finding
from vramledger.engine.kv import KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.evidence import Figure, Unknown
from vramledger.frozen import frozen


class Account(StrEnum):
    """The three groups of a ledger."""

    FIXED = "fixed"
    LOAD = "varies with load"
    HIDDEN = "hidden by the engine"


@frozen
class Row:
    """One line of the account, in GiB on one rank."""

    key: str  # stable name: "weights", "activation", "non_torch", "cuda_graph", "state", ...
    label: str
    account: Account
    figure: Figure
    in_budget: bool
    note: str = ""


@frozen
class RankLedger:
    """One GPU's share. Rows with `in_budget` add up to `budget` (the KV pool and margin included)."""

    rank: int
    pp_stage: int
    tp_rank: int
    total: Figure
    budget: Figure
    outside: Figure  # used on the device but not counted by the engine
    rows: tuple[Row, ...]

    def row(self, key: str) -> Figure:
        """The figure of that row.

        Raises:
            KeyError: there is no such row.
        """
        for row in self.rows:
            if row.key == key:
                return row.figure
        raise KeyError(key)


@frozen
class HostRow:
    """One line of the host ledger, in GiB of the server's memory."""

    key: str
    label: str
    figure: Figure
    note: str = ""


@frozen
class Lever:
    """One change to the launch, everything else equal, at expected values."""

    change: str  # as a flag
    effect_gib: float  # of the pool on the tightest rank
    effect_tokens: int  # of the printed figure

    def to_json(self) -> dict[str, str | float | int]:
        return {
            "change": self.change,
            "effect_gib": self.effect_gib,
            "effect_tokens": self.effect_tokens,
        }


@frozen
class Ledger:
    """The whole account and its verdict."""

    deployment: Deployment
    ranks: tuple[RankLedger, ...]
    host: tuple[HostRow, ...]
    pool: KvPool | None  # at expected values; None where nothing is left for a cache
    pool_low: KvPool | None  # at the pessimistic end: decisions use this one
    pool_high: KvPool | None
    tokens: Figure | Unknown  # printed by the engine, per replica
    capacity_tokens: Figure | Unknown  # for the stated lengths
    fits: bool  # at the pessimistic end
    reason: str  # one sentence: why it fits or what does not
    findings: tuple[Finding, ...] = ()
    only_starts: bool = False  # it starts, and never serves one request of full length
    levers: tuple[Lever, ...] = ()  # single changes and what they do to the pool
