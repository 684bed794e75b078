"""When the requests of a load come."""

from typing import TYPE_CHECKING

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.simulate.routing.clients import Integers


@frozen
class Clocks:
    """Nanoseconds by place: at their `arrivals`, or, where `closed` requests are in flight, `front_ns` after sent."""

    arrivals: "Integers"
    front_ns: "Integers"
    closed: int | None = None
