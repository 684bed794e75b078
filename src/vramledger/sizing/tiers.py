"""A first screen: which classes of load each memory tier holds, on one GPU of that size."""

from collections.abc import Sequence
from typing import Final

from vramledger.engine.setting import Layout
from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import find
from vramledger.model.model import Model
from vramledger.plan.profile import Profile
from vramledger.plan.requirement import Kind
from vramledger.sizing.candidate import Precision
from vramledger.sizing.evaluate import Choice, Evaluator
from vramledger.sizing.limits import MOST_REFUSED, limit_for, within
from vramledger.sizing.need import Need
from vramledger.sizing.question import Question
from vramledger.sizing.served import served

TIER_CARDS: Final = {
    16: "T4",
    24: "L4",
    32: "RTX-5090",
    48: "L40S",
    80: "H100-80GB-SXM",
    96: "RTX-PRO-6000-Server",
    141: "H200-141GB-SXM",
    192: "MI300X",
    288: "B300",
}
_SMALLER: Final = Precision("fp8")
_SHARE: Final = 0.95  # of moments
_ONE: Final = Figure.sharp(1.0, Basis.ASSUMED, "one request")


@frozen
class Cell:
    """What one tier holds of one class of load."""

    profile: str
    precision: Precision
    held: int  # requests in flight at 95 % of moments, 0 where it does not fit
    reason: str


@frozen
class Tier:
    """One memory size, with the card that stands for it."""

    gigabytes: int
    card: str
    cells: tuple[Cell, ...]


def tiers(
    model_name: str,
    model: Model,
    profiles: Sequence[Profile],
    version: str | None = None,
) -> tuple[Tier, ...]:
    """Every tier against every profile, at the stored precision or else at FP8 weights.

    Requests longer than the model's context are left out, up to a tenth of a profile; beyond that
    nothing holds it.
    """
    found = []
    for gigabytes, name in TIER_CARDS.items():
        card = find(name)
        cells = [_cell(model_name, model, profile, card, version) for profile in profiles]
        found.append(Tier(gigabytes, name, tuple(cells)))
    return tuple(found)


def _cell(
    model_name: str, model: Model, profile: Profile, card: Accelerator, version: str | None
) -> Cell:
    """The first precision that fits, or the stored one's reason."""
    most = model.text.max_positions
    kept = within(profile.lengths, most, profile.name)
    refused = kept.unmet(model.id, most, MOST_REFUSED, "choose a model of longer context")
    if refused:
        return Cell(profile.name, Precision(), 0, refused[0])
    lengths = kept.lengths
    smaller = () if model.quantization else (_SMALLER,)
    evaluator = Evaluator(
        Question(
            model_name=model_name,
            model=model,
            needs=(Need(profile.name, Kind.LATENCY, lengths, _ONE),),
            accelerators=(card,),
            max_model_len=limit_for(lengths.longest, model, profile.name),
            served={p.weights: served(model_name, model, p.weights, profile.name) for p in smaller},
            engine_version=version,
        )
    )
    reason = ""
    for precision in (Precision(), *smaller):
        candidate = evaluator.evaluate(Choice(card, precision, Layout()))
        if candidate.fits:
            return Cell(profile.name, precision, candidate.holdings[0].held[_SHARE], "")
        reason = reason or candidate.reason
    return Cell(profile.name, Precision(), 0, reason)
