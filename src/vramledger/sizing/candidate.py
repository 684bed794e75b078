"""Candidates: a card, a precision and a layout, with what they hold. Result types."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final

from vramledger.engine.kv import KvPool
from vramledger.engine.launch import Flag
from vramledger.engine.setting import Layout
from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.sizing.limit_rows import ContextLimits
from vramledger.sizing.simulated.result import Simulated

SHARES: Final = (0.5, 0.95, 0.99)
NOT_CHECKED: Final = "not checked"
HOLDS: Final = "holds"
HOLDS_NOT: Final = "does not hold"


@frozen
class Precision:
    """How weights and cache are held; "as-stored" and "auto" leave the checkpoint as it is."""

    weights: str = "as-stored"
    kv: str = "auto"

    @property
    def label(self) -> str:
        return self.weights if self.kv == "auto" else f"{self.weights}, {self.kv} KV"


@frozen
class Margin:
    """One link of the chain of margins: what it is and what it takes from each replica."""

    name: str
    blocks: int  # of one replica's pool; 0 where the margin is in the load
    gpus: int  # GPUs the whole plan would save without it


@frozen
class Holding:
    """What one replica's pool holds of scenarios that are in flight together."""

    peak: str
    held: Mapping[float, int]  # requests in flight within the safe load, by share of moments
    headroom_blocks: int
    headroom_reason: str
    replicas: int  # 0 where a replica holds not one request
    replicas_low: int
    replicas_high: int
    expected_blocks: float  # mean use of one replica at the peak
    mix_tokens: Figure  # tokens the pool holds at the average length of this mix
    load_share: float = 0.0  # requests in flight over those one replica holds; above 1, several


@frozen
class Link:
    """What joins the GPUs of one replica."""

    server: str  # the smallest that holds one replica, "8 x H100-80GB-SXM"
    gpus_a_server: int
    servers_a_replica: int
    kind: str  # "NVSwitch", "PCIe", ...; empty for one GPU
    gb_s: float | None  # one direction; None where unknown
    basis: Basis
    source: str


@frozen
class Candidate:
    """One card, precision and layout. `gpus` of `replicas` serve the requirement together.

    A candidate that does not fit was tried as one replica; `rule` names what forbids it.
    """

    accelerator: Accelerator
    precision: Precision
    layout: Layout
    fits: bool
    reason: str  # why it fits, or the rule that forbids it, one sentence
    rule: str = ""  # "weights", "KV heads", "platform", ...; empty where it fits
    known: bool = True  # False: what forbids it is that this is not known
    replicas: int = 1
    gpus_low: int = 0
    gpus_high: int = 0
    kv_tokens: Figure | None = None  # per replica, as the engine prints them
    holdings: tuple[Holding, ...] = ()
    margins: tuple[Margin, ...] = ()
    idle_share: float | None = None  # of the pools, at the expected load
    kv_waste_gib: float = 0.0  # KV held more than once, per replica
    weights_waste_gib: float = 0.0  # weights held more than once or padded, per replica
    communication_bytes: float = 0.0  # a token and GPU, over the link
    link: Link | None = None
    servers: int = 0  # of that size, for all replicas
    launch: str = ""  # of one replica
    pool: KvPool | None = None  # of a replica, pessimistic end
    extra: tuple[Flag, ...] = ()  # of the launch, beside what every candidate has
    price_per_hour: float | None = None
    quality: tuple[str, ...] = ()
    limit: str = ""  # what bounds the requests held: "memory" or "max-num-seqs"
    cap: int | None = None  # requests that a replica's --max-num-seqs lets run at once
    notes: tuple[str, ...] = ()
    memory: str = HOLDS_NOT
    speed: str = NOT_CHECKED
    queue: str = NOT_CHECKED
    simulated: Simulated | None = None  # where the simulator was asked

    @property
    def gpus(self) -> int:
        return self.replicas * self.layout.world

    @property
    def placed(self) -> str:
        """Layout and replicas: ``TP1 PP2 x 2``."""
        layout = self.layout
        stages = f" PP{layout.pp}" if layout.pp > 1 else ""
        return f"TP{layout.tp}{stages}{' EP' if layout.expert_parallel else ''} x {self.replicas}"

    @property
    def recommended(self) -> bool:
        """Whether it fits and no simulation speaks against it."""
        return self.fits and (self.simulated is None or not self.simulated.fails)

    @property
    def played(self) -> bool:
        """Whether a simulation says something of it."""
        return self.simulated is not None and bool(self.simulated.runs)

    @property
    def surely_fails(self) -> bool:
        """Whether a simulation fails at the expected step times."""
        return self.simulated is not None and self.simulated.fails_surely

    @property
    def tightest(self) -> Holding | None:
        """The holding that decides: of the most replicas, and of those the one that fills them most."""
        return max(self.holdings, key=lambda h: (h.replicas, h.load_share), default=None)


@frozen
class Smaller:
    """The next smaller choice on the same card, why it fails, and single changes that mend it."""

    what: str  # "TP 2", "3 replicas"
    layout: Layout
    replicas: int
    reason: str
    remedies: tuple[str, ...]


@frozen
class CardResult:
    """All candidates of one card, best first, and the next smaller one explained."""

    accelerator: Accelerator
    candidates: tuple[Candidate, ...]
    smaller: Smaller | None = None

    @property
    def best(self) -> Candidate | None:
        return next((c for c in self.candidates if c.recommended), None)

    @property
    def nearest(self) -> Candidate | None:
        """The best candidate, or the one that came furthest where none fits."""
        return self.best or next(iter(self.candidates), None)


@frozen
class Sizing:
    """The answer: cards with their candidates, and what was and was not checked."""

    model: str
    engine: str
    engine_version: str
    cards: tuple[CardResult, ...]
    max_model_len: int
    currency: str = ""
    checked: tuple[str, ...] = ("memory",)
    notes: tuple[str, ...] = field(default=())
    unmet: tuple[str, ...] = ()  # sentences on what no card mends
    weights_unknown: str | None = None  # why the weights counted are but an upper bound
    warnings: tuple[str, ...] = ()  # sentences on what makes the question doubtful
    limits: ContextLimits | None = None  # where the lengths of requests were recorded or asked for
    simulated: bool = False  # whether a candidate must be seen to serve, to be an answer

    @property
    def fits(self) -> bool:
        return any(c.fits for c in self._candidates)

    @property
    def holds(self) -> bool:
        """Whether a candidate is recommended, seen to serve where that was asked, and nothing is unmet."""
        return any(map(self.serves, self.cards)) and not self.unmet

    def serves(self, card: CardResult) -> bool:
        """Whether a card's best candidate holds the requirement as far as was asked."""
        best = card.best
        return best is not None and (best.played or not self.simulated)

    @property
    def serving(self) -> tuple[Candidate, ...]:
        """The best candidate of every card that holds the requirement as far as was asked."""
        bests = (card.best for card in self.cards if self.serves(card))
        return tuple(best for best in bests if best is not None)

    @property
    def evidence(self) -> bool:
        """Whether any of `serving` was seen to serve with step times that are evidence for it."""
        return any(c.simulated is None or c.simulated.evidence for c in self.serving)

    @property
    def cheapest(self) -> Candidate | None:
        """Of `serving` with a price, the one that costs least; None without prices."""
        priced = [c for c in self.serving if c.price_per_hour is not None]
        return min(priced, key=lambda c: c.price_per_hour or 0.0, default=None)

    @property
    def known(self) -> bool:
        """Whether the answer is known: the weights are, and something fits or is known not to.

        What fits leaves a failure of all others open where it was not simulated, though that was asked, or
        fails only at the slow end of the step times.
        """
        if self.weights_unknown is not None:
            return False
        if self.simulated and self.fits and not self.holds and not self.unmet:
            return not any(c.fits and not c.surely_fails for c in self._candidates)
        settled = self.fits or bool(self.unmet)
        return settled or any(c.known for c in self._candidates)

    @property
    def _candidates(self) -> Iterator[Candidate]:
        return (c for card in self.cards for c in card.candidates)
