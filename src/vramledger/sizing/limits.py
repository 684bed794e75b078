"""The longest request: what is refused beyond it, and the max_model_len that admits it."""

from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.model import Model
from vramledger.plan.lengths import LengthDistribution, from_cells
from vramledger.units import round_up

_LENGTH_STEP: Final = 1024  # limits are rounded up to whole KiB of tokens


@frozen
class Kept:
    """The requests within a limit, and the share of all requests that is beyond it."""

    name: str
    lengths: LengthDistribution
    refused: float

    def notes(self, model: str, limit: int) -> tuple[str, ...]:
        """A sentence when anything is refused."""
        if self.refused == 0:
            return ()
        said = (
            f"{self.refused:.1%} of the requests of {self.name} are longer than the {limit:,} "
            f"tokens {model} is served with and would be refused; they are left out."
        )
        return (said,)


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
    return min(round_up(longest, _LENGTH_STEP), most)
