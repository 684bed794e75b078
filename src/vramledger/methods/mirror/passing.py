"""One request on its way through, and who looks on."""

from typing import Final, Protocol

from vramledger.methods.mirror.front import Header
from vramledger.methods.mirror.heard import Heard

OWN: Final = "x-vramledger-mirror"  # marks the mirror's own questions, which are not counted


class Passing:
    """A request that A has not answered to the end. `heard` is given the answer where somebody listens; `own` is one of the mirror."""

    __slots__ = ("begun", "heard", "is_head", "own")

    def __init__(self, *, is_head: bool, own: bool) -> None:
        self.is_head, self.own = is_head, own
        self.begun = False  # whether some of the answer came
        self.heard: Heard | None = None


class Onlooker(Protocol):
    """Sees what passes. What it does comes after the bytes went on, and what it raises is kept from the client."""

    def wants(self, method: bytes, path: bytes) -> bool:
        """A request's head went to A: whether its body is to be kept."""

    def asked(self, path: bytes, headers: list[Header], body: bytes) -> Heard | None:
        """Such a request went to A whole: who listens to its answer."""

    def answered(self, status: int) -> None:
        """The head of an answer came from A."""

    def unreached(self, failure: str) -> None:
        """A could not be reached, and the client was told so."""

    def lost_sight(self) -> None:
        """A connection can no longer be followed, and is only passed on."""
