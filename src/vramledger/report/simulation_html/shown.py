"""What the page shows: the runs of a simulation, each with its overview."""

from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract
from vramledger.record.overview.overview import Overview
from vramledger.simulate.answers import Answers
from vramledger.simulate.ends import Ends


@frozen
class Side:
    """One run: with the workload's prefix hits, or without any."""

    key: str  # in ids of the page
    title: str
    dash: str  # of its curves beside the other's
    answers: Answers
    overview: Overview
    ends: Ends | None = None  # of the step times, where they were played


@frozen
class Shown:
    """The sides, the main one first. `headroom` is the share of the pool kept free, 0..1."""

    sides: tuple[Side, ...]
    contract: Contract | None
    headroom: float
    headroom_said: str  # where the share comes from

    @property
    def main(self) -> Side:
        """The side that is judged and written."""
        return self.sides[0]
