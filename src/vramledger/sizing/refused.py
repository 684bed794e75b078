"""Requests longer than a model allows: the engine refuses them, so they hold no memory."""

from dataclasses import dataclass

from vramledger.errors import BadInput
from vramledger.plan.lengths import LengthDistribution, from_cells


@dataclass(frozen=True, slots=True)
class Kept:
    """The requests within a limit, and the share of all requests that is beyond it."""

    lengths: LengthDistribution
    refused: float

    def notes(self, model: str, limit: int) -> tuple[str, ...]:
        """A sentence when anything is refused."""
        if self.refused == 0:
            return ()
        said = (
            f"{self.refused:.1%} of these requests are longer than the {limit:,} tokens {model} "
            "allows and would be refused; they are left out."
        )
        return (said,)


def within(lengths: LengthDistribution, limit: int) -> Kept:
    """The part of a distribution that fits a limit in tokens.

    Raises:
        BadInput: nothing of it does.
    """
    refused = lengths.share_above(limit)
    if refused == 0:
        return Kept(lengths, 0.0)
    cells = [
        (cell.input_tokens, cell.output_tokens, cell.weight)
        for cell in lengths.cells
        if cell.total_tokens <= limit
    ]
    if not cells:
        raise BadInput(
            f"Every request is longer than the {limit:,} tokens the model allows; choose another "
            "model or shorter requests."
        )
    return Kept(from_cells(cells, lengths.basis, lengths.source), refused)
