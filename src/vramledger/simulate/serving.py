"""How requests are given to several servers, and how they come."""

from vramledger.frozen import frozen
from vramledger.simulate.routing.registry import ROUND_ROBIN
from vramledger.simulate.split.run import Split


@frozen
class Serving:
    """A router of `routing.registry.ROUTERS`; `closed` requests in flight, None for the workload's own arrivals.

    `split` makes the engines decode servers behind prefill servers, None has each do both.
    """

    router: str = ROUND_ROBIN
    closed: int | None = None
    split: Split | None = None

    @property
    def is_plain(self) -> bool:
        """Whether no engine depends on another."""
        return self.router == ROUND_ROBIN and self.closed is None and self.split is None


PLAIN = Serving()
