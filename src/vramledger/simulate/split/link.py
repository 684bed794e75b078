"""The way of a prompt's cache from the server that computed it to the one that answers."""

from collections.abc import Sequence
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.units import GIB

_BILLION: Final = 1_000_000_000


@frozen
class Link:
    """`bytes_per_s` of one server, in each direction, all its GPUs together; `latency_ns` of every transfer.

    Raises:
        BadInput: a link that carries nothing, or sends before it is asked.
    """

    bytes_per_s: float
    latency_ns: int = 0

    def __post_init__(self) -> None:
        if not self.bytes_per_s > 0:
            raise BadInput(
                f"A link of {self.bytes_per_s:g} bytes a second carries nothing; give more than 0."
            )
        if self.latency_ns < 0:
            raise BadInput(
                f"A link's latency is {self.latency_ns} ns, but cannot be negative; give 0 or more."
            )

    @property
    def gib_per_s(self) -> float:
        """The same in GiB/s."""
        return self.bytes_per_s / GIB

    def lasts_ns(self, count: int) -> int:
        """How long so many bytes occupy it, latency apart."""
        return round(count / self.bytes_per_s * _BILLION)


class Ports:
    """Each server's end of the links: it sends one cache at a time, and takes in one at a time."""

    def __init__(self, link: Link, bytes_per_block: int, servers: int) -> None:
        self._link = link
        self._bytes_per_block = bytes_per_block
        self._free = [0] * servers  # when each is free again

    def transfer(self, now: int, blocks: int, between: Sequence[int]) -> int:
        """When a cache that is asked for now has come; it occupies both servers' ends once they are free."""
        start = max(now, *(self._free[server] for server in between))
        over = start + self._link.lasts_ns(blocks * self._bytes_per_block)
        for server in between:
            self._free[server] = over
        return over + self._link.latency_ns
