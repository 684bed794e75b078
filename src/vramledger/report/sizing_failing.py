"""What the table of a sizing leaves out: candidates of its cards that fail, a line for each reason."""

from collections.abc import Sequence

from vramledger.sizing.candidate import Candidate, CardResult
from vramledger.sizing.failing import SIMULATION, Failing, tried


def failing_lines(cards: Sequence[CardResult]) -> list[str]:
    """Nothing where every candidate of the cards is an answer."""
    found = tried(cards)
    if not found.failing:
        return []
    which = "this card" if len(cards) == 1 else f"these {len(cards)} cards"
    head = f"Not in the table: {found.failed:,} of {found.count:,} candidates that were tried on {which} fail."
    return ["", head, *(f"  {_line(each)}" for each in found.failing)]


def _line(failing: Failing) -> str:
    one, such_as = failing.example, ":" if failing.count == 1 else ", such as"
    named = f"{failing.count:,} by {failing.rule}{such_as} {one.accelerator.name} {_placed(one)}"
    return named if failing.rule == SIMULATION else f"{named}: {one.reason}"


def _placed(one: Candidate) -> str:
    layout = one.layout
    stages = f" PP{layout.pp}" if layout.pp > 1 else ""
    return f"TP{layout.tp}{stages}{' EP' if layout.expert_parallel else ''}, {one.precision.label}"
