"""Candidates: a card, a precision and a layout, with what they hold. Result types."""

from dataclasses import dataclass, field
from typing import Final

from vramledger.engine.setting import Layout
from vramledger.evidence import Figure
from vramledger.hardware.accelerator import Accelerator

SHARES: Final = (0.5, 0.95, 0.99)
NOT_CHECKED: Final = "not checked"


@dataclass(frozen=True, slots=True)
class Precision:
    """How weights and cache are held; "as-stored" and "auto" leave the checkpoint as it is."""

    weights: str = "as-stored"
    kv: str = "auto"

    @property
    def label(self) -> str:
        return self.weights if self.kv == "auto" else f"{self.weights}, {self.kv} KV"


@dataclass(frozen=True, slots=True)
class Margin:
    """One link of the chain of margins: what it is and what it takes from each replica."""

    name: str
    blocks: int
    gpus: int  # GPUs the whole plan would save without it


@dataclass(frozen=True, slots=True)
class Holding:
    """What one replica's pool holds of one scenario."""

    need: str
    held: dict[float, int]  # requests in flight within the safe load, by share of moments
    headroom_blocks: int
    headroom_reason: str
    replicas: int
    replicas_low: int
    replicas_high: int
    expected_blocks: float  # mean use of one replica at the scenario's peak


@dataclass(frozen=True, slots=True)
class Candidate:
    """One card, precision and layout. Counts are whole: `gpus` serve the requirement together."""

    accelerator: Accelerator
    precision: Precision
    layout: Layout
    fits: bool
    reason: str  # why it fits, or the rule that forbids it
    replicas: int = 0
    gpus: int = 0
    gpus_low: int = 0
    gpus_high: int = 0
    kv_tokens: Figure | None = None  # per replica, for requests of this mix
    holdings: tuple[Holding, ...] = ()
    margins: tuple[Margin, ...] = ()
    idle_share: float | None = None  # of the pools, at the expected load
    replication_waste_gib: float = 0.0  # KV held more than once, per replica
    communication_bytes: float = 0.0  # a token and GPU, over the link
    server: str = ""
    servers: int = 0
    launch: str = ""
    price_per_hour: float | None = None
    quality: tuple[str, ...] = ()
    limit: str = ""  # what bounds the requests held: "memory" or "max-num-seqs"
    memory: str = ""
    speed: str = NOT_CHECKED
    queue: str = NOT_CHECKED


@dataclass(frozen=True, slots=True)
class Smaller:
    """The next smaller choice on the same card, why it fails, and single changes that mend it."""

    candidate: Candidate
    remedies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CardResult:
    """All candidates of one card, best first, and the next smaller one explained."""

    accelerator: Accelerator
    candidates: tuple[Candidate, ...]
    smaller: Smaller | None = None

    @property
    def best(self) -> Candidate | None:
        return next((c for c in self.candidates if c.fits), None)


@dataclass(frozen=True, slots=True)
class Sizing:
    """The answer: cards with their candidates, and what was and was not checked."""

    model: str
    engine: str
    cards: tuple[CardResult, ...]
    max_model_len: int
    checked: tuple[str, ...] = ("memory",)
    notes: tuple[str, ...] = field(default=())

    @property
    def fits(self) -> bool:
        return any(card.best is not None for card in self.cards)
