"""Requests whose arrivals are known in advance, through a router."""

from collections.abc import Callable

import numpy as np

from vramledger.simulate.routing.dispatch import Dispatch

_OFTEN = 256  # requests between two reports of progress


def send_all(
    dispatch: Dispatch,
    arrivals: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    told: Callable[[int], None],
) -> None:
    """Send every request when it arrives, by place; engines advance only as far as their router looks.

    Args:
        dispatch: where to.
        arrivals: nanoseconds by place; requests are sent in their order, equal times by place.
        told: is given the number of requests that have ended, now and then.
    """
    for number, place in enumerate(np.argsort(arrivals, kind="stable").tolist()):
        arrival = int(arrivals[place])
        dispatch.board.reach(arrival)
        dispatch.send(place, arrival)
        if number % _OFTEN == 0:
            told(sum(engine.ended for engine in dispatch.engines))
    for engine in dispatch.engines:
        engine.advance()
        told(sum(one.ended for one in dispatch.engines))
