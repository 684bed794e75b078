"""What can be seen of an engine from outside, and how far it is."""

from enum import IntEnum
from typing import Final

from vramledger.frozen import frozen

FOREVER: Final = (1 << 63) - 1  # nanoseconds; later than anything


@frozen
class View:
    """One engine's load after the last thing that happened in it.

    `sent` requests are on their way: sent to it, and not yet taken in by its loop. `prompt_tokens` are those of the
    requests that wait or run.
    """

    waiting: int
    running: int
    sent: int
    prompt_tokens: int
    free_blocks: int

    @property
    def in_flight(self) -> int:
        """Requests that were sent to it and have not ended, as one who sends them counts."""
        return self.sent + self.waiting + self.running


class Kind(IntEnum):
    """What an engine does next; of one instant, steps end before turns of the loop begin."""

    END = 0
    TURN = 1


@frozen
class Moment:
    """When an engine does something next, as far as is known."""

    ns: int
    kind: Kind
