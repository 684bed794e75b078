"""What sizing is asked: the model, the scenarios and the choices that are open."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from vramledger.engine.launch import Flag
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.model import Model
from vramledger.sizing.candidate import Precision
from vramledger.sizing.need import Need


@dataclass(frozen=True, slots=True)
class Question:
    """Everything a sizing run depends on; no hidden state."""

    model_name: str
    model: Model
    needs: tuple[Need, ...]
    accelerators: tuple[Accelerator, ...]
    max_model_len: int
    precisions: tuple[Precision, ...] = (Precision(),)
    engine_version: str | None = None
    extra_flags: tuple[Flag, ...] = ()
    prices: Mapping[str, float] = field(default_factory=dict)  # per GPU and hour, by card name
    largest_tp: int = 8
    largest_pp: int = 4
    share: float = 0.95  # of moments at which the pool must hold the requests
    notes: tuple[str, ...] = ()
