"""The longest request: what is refused beyond it, and the max_model_len that admits it."""

from math import isclose
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.model import Model
from vramledger.plan.lengths import LengthDistribution, from_cells
from vramledger.plan.requirement import Kind, Scenario
from vramledger.units import round_up

MOST_REFUSED: Final = 0.10  # of a shipped profile, whose tail is not the user's own
LENGTH_STEP: Final = 1024  # limits are rounded up to whole KiB of tokens


@frozen
class Kept:
    """The requests within a limit, and the share of all requests that is beyond it."""

    name: str
    lengths: LengthDistribution
    refused: float

    def notes(self, model: str, limit: int, allowed: float) -> tuple[str, ...]:
        """A sentence when anything is refused that may be; `allowed` is a share of all requests."""
        if self.refused == 0 or self.breaks(allowed):
            return ()
        bound = f"; up to {allowed:.1%} may be" if allowed else ""
        return (f"{self._said(model, limit)} and would be refused{bound}; they are left out.",)

    def unmet(self, model: str, limit: int, allowed: float, remedy: str) -> tuple[str, ...]:
        """A sentence when more is refused than may be: the requirement is not met."""
        if not self.breaks(allowed):
            return ()
        bound = f"more than the {allowed:.1%} that may be" if allowed else "and none may be"
        return (f"{self._said(model, limit)} and would be refused, {bound}; {remedy}.",)

    def breaks(self, allowed: float) -> bool:
        """Whether more is refused than `allowed`; shares that differ by rounding are equal."""
        return self.refused > allowed and not isclose(self.refused, allowed)

    def _said(self, model: str, limit: int) -> str:
        return (
            f"{self.name}: {self.refused:.1%} of the requests are longer than the {limit:,} tokens "
            f"{model} can be served with"
        )


def allowed_refusals(scenario: Scenario) -> float:
    """The share of a scenario's requests that may be refused for their length.

    What its contract leaves for failures; without a line of success none where people wait, and
    the share at which a profile is no longer the load in question where work queues.
    """
    if scenario.contract.success is not None:
        return 1.0 - scenario.contract.success
    return 0.0 if scenario.kind is Kind.LATENCY else MOST_REFUSED


def within(lengths: LengthDistribution, limit: int, name: str) -> Kept:
    """The part of a distribution that fits a limit in tokens.

    Raises:
        BadInput: nothing of it does.
    """
    refused = lengths.share_above(limit)
    if refused == 0:
        return Kept(name, lengths, 0.0)
    cells = [
        (cell.input_tokens, cell.output_tokens, cell.weight)
        for cell in lengths.cells
        if cell.total_tokens <= limit
    ]
    if not cells:
        raise BadInput(
            f"Every request of {name} is longer than the {limit:,} tokens the model is served with; "
            "choose another model, a longer limit or shorter requests."
        )
    return Kept(name, from_cells(cells, lengths.basis, lengths.source), refused)


def limit_for(longest: int, model: Model, where: str) -> int:
    """The max_model_len for a longest request, rounded up to 1,024 within the model's own limit.

    Raises:
        BadInput: the model does not allow so many tokens.
    """
    most = model.text.max_positions
    if longest > most:
        raise BadInput(
            f"{where}: the longest request has {longest:,} tokens, but {model.id} allows {most:,}; "
            "shorten the requests or choose another model."
        )
    return min(round_up(longest, LENGTH_STEP), most)
