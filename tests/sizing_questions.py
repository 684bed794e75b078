"""Questions for the tests of sizing: one model, few cards, a plain load."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from vramledger.evidence import Basis, Figure
from vramledger.hardware.catalogue import find
from vramledger.model.load import load_model
from vramledger.model.model import Model
from vramledger.plan.lengths import LengthDistribution, from_cells
from vramledger.plan.requirement import Kind
from vramledger.sizing.candidate import Precision
from vramledger.sizing.need import Need
from vramledger.sizing.question import Question
from vramledger.sizing.served import served

LENGTHS = from_cells(
    [(500, 200, 6.0), (2000, 400, 3.0), (7000, 600, 1.0)], Basis.ASSUMED, "three cells"
)


@cache
def model_named(name: str) -> Model:
    return load_model(name)


def in_flight(requests: float, low: float | None = None, high: float | None = None) -> Figure:
    return Figure(requests, low or requests, high or requests, Basis.ASSUMED, "test")


def need(
    requests: float = 20,
    *,
    name: str = "daily",
    kind: Kind = Kind.LATENCY,
    lengths: LengthDistribution = LENGTHS,
    headroom: float | None = None,
    hours: str | None = None,
    traffic: str = "",
) -> Need:
    return Need(
        name,
        kind,
        lengths,
        in_flight(requests),
        headroom=headroom,
        hours=hours,
        traffic=traffic or name,
    )


def question(
    *needs: Need,
    model: str = "Qwen/Qwen3-8B",
    cards: Sequence[str] = ("L40S",),
    weights: Sequence[str] = ("as-stored",),
    version: str | None = "0.33",
) -> Question:
    loaded = model_named(model)
    return Question(
        model_name=model,
        model=loaded,
        needs=needs or (need(),),
        accelerators=tuple(find(card) for card in cards),
        max_model_len=8192,
        precisions=tuple(Precision(each) for each in weights),
        served={each: served(model, loaded, each, "test") for each in weights},
        engine_version=version,
    )


def with_memory(asked: Question, gib: float) -> Question:
    """The question about its first card with another amount of reported memory."""
    card = replace(asked.accelerators[0], total=Figure.sharp(gib, Basis.ASSUMED, "test"))
    return replace(asked, accelerators=(card,))
