"""Theory beside the simulation: what the deployment holds, and Little's law."""

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.answers import Answers
from vramledger.simulate.capacity import Capacity
from vramledger.simulate.figures import Figures, seconds
from vramledger.simulate.offered import Offered
from vramledger.simulate.theory import little_residual


@frozen
class Sanity:
    """Closed-form figures of all engines, derived, beside those of the simulation."""

    capacity: Capacity
    offered_per_s: float | None  # None where all arrive at once
    little_residual: float | None  # (L - rate W) / L of the simulation; None where nothing ended


def sanity_of(offered: Offered, figures: Figures, answers: Answers, capacity: Capacity) -> Sanity:
    """The line's figures."""
    return Sanity(capacity, offered_per_s(offered), _residual(answers, figures))


def offered_per_s(offered: Offered) -> float | None:
    """Requests a second from the first arrival to the last; None where all arrive at once."""
    window = float(offered.due_ns[-1] - offered.due_ns[0]) / 1e9
    return (len(offered) - 1) / window if window > 0 else None


def _residual(answers: Answers, figures: Figures) -> float | None:
    """Of the time that requests spend in the engines, by their own records and by the steps'."""
    stayed = figures.columns["done_s"] - seconds(figures.found["queued_ns"])
    known = stayed[~np.isnan(stayed) & (stayed > 0)]
    span, present = answers.levels.span_s, answers.levels.in_system
    if not len(known) or not span > 0 or not present > 0:
        return None
    return little_residual(present, len(known) / span, float(known.mean()))
