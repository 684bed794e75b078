"""What a router is."""

from collections.abc import Sequence
from typing import Final, Protocol

from vramledger.frozen import frozen
from vramledger.simulate.view import View

ALWAYS: Final = 0  # how old counts are that a router keeps itself


@frozen
class Routed:
    """A request as a router sees it.

    `place` is its identity, its place in the order of sending. `prefix` holds the identities of its leading
    parts of `part_tokens` tokens each: equal identities mean equal tokens up to there.
    """

    place: int
    input_tokens: int
    prefix: Sequence[int] = ()
    part_tokens: int = 1


class Router(Protocol):
    """A plain object that chooses; what it must remember of earlier requests it keeps itself."""

    @property
    def every_ns(self) -> int | None:
        """Which loads it sees: those at the last whole multiple of this time, as nanoseconds.

        None for none, `ALWAYS` for those at the moment of each request.
        """

    def choose(self, request: Routed, views: Sequence[View]) -> int:
        """The number of the engine that gets the request.

        `views` are the loads by engine, the same object until they are published again, empty for a router that
        sees none. Requests come in the order of their arrival, equal times in the order of sending.
        """
