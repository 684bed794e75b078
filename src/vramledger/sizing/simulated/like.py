"""Requests like those of a recorded profile, as ``vram workload synth`` draws them."""

from pathlib import Path
from typing import Final

from vramledger.frozen import frozen
from vramledger.workload.profile.profile import Profile

_FEWEST: Final = 2_000  # requests
_MOST: Final = 200_000


@frozen
class Like:
    """The profile in a file, and requests a second on average; None keeps the profile's."""

    file: Path
    profile: Profile
    rate_per_s: float | None

    @property
    def requests(self) -> int:
        """As many as were recorded, within bounds."""
        return min(max(self.profile.requests, _FEWEST), _MOST)


def write_like(like: Like, path: Path, seed: int) -> Path:
    """A stored workload of such requests; they arrive along the profile's own curve where it has one.

    Raises:
        BadInput: it cannot be written.
        CannotKnow: the profile lacks lengths or a rate.
    """
    from vramledger.workload.synth.arrivals import OWN, Arrivals
    from vramledger.workload.synth.make import make, source_at

    kind = OWN if like.profile.arrival.per_step else "poisson"
    asked = Arrivals(requests=like.requests, kind=kind, rate=like.rate_per_s)
    made = make(source_at(like.file), asked, path, seed=seed, compare=False)
    return made.stored.path
