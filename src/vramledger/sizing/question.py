"""What sizing is asked: the model, the scenarios and the choices that are open."""

from collections.abc import Mapping
from dataclasses import field

from vramledger.engine.launch import Flag
from vramledger.engine.setting import Layout
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.ledger.measured_memory import MeasuredMemory
from vramledger.model.model import Model
from vramledger.plan.requirement import Scenario
from vramledger.sizing.candidate import Precision
from vramledger.sizing.need import Need
from vramledger.sizing.offered import Offered
from vramledger.sizing.served import AS_STORED, Served


@frozen
class Pinned:
    """Parts of the layout that the engine's arguments state; None leaves them open."""

    tp: int | None = None
    pp: int | None = None
    expert_parallel: bool | None = None

    def admits(self, layout: Layout) -> bool:
        """Whether a layout is what was stated."""
        return (
            self.tp in (None, layout.tp)
            and self.pp in (None, layout.pp)
            and self.expert_parallel in (None, layout.expert_parallel)
        )


@frozen
class Question:
    """Everything a sizing run depends on; no hidden state."""

    model_name: str
    model: Model
    needs: tuple[Need, ...]
    accelerators: tuple[Accelerator, ...]
    max_model_len: int
    precisions: tuple[Precision, ...] = (Precision(),)
    served: Mapping[str, Served] = field(default_factory=dict)  # by weights, but "as-stored"
    engine_version: str | None = None
    extra_flags: tuple[Flag, ...] = ()
    pinned: Pinned = field(default_factory=Pinned)
    prices: Mapping[str, float] = field(default_factory=dict)  # per GPU and hour, by card name
    currency: str = ""
    largest_tp: int = 8
    largest_pp: int = 4
    share: float = 0.95  # of moments at which the pool must hold the requests
    open_cards: bool = False  # no card was named: the answer orders them
    notes: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()  # what no card mends: requests the model cannot serve
    warnings: tuple[str, ...] = ()  # what makes the question doubtful
    offered: Offered | None = None  # every request, for the table of context limits
    limits: bool = (
        False  # whether the table is asked for; recorded requests have a short one always
    )
    scenarios: tuple[Scenario, ...] = ()  # those behind `needs`, in their order
    folder: str = ""  # where their recorded files are named from
    memory: MeasuredMemory | None = None  # of a start that was measured

    def served_as(self, weights: str) -> Served:
        """What is loaded for that precision of the weights."""
        if weights == AS_STORED:
            return Served(self.model_name, self.model)
        return self.served[weights]
