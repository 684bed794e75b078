"""Waiting until a server has nothing to do, and what it holds then."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Final

from vramledger.frozen import frozen
from vramledger.trial.conduct.watch import SERVER
from vramledger.trial.sampling.server_page import ServerPage
from vramledger.trial.sampling.source import Clock, Missed
from vramledger.trial.sampling.target import Target

LIMIT_S: Final = 120.0
_EVERY_S: Final = 0.25
_ANSWERED: Final = "http_4"
_LOOKS: Final = 8  # in a row, after which such an answer is taken for lasting
_BUSY: Final = ("running", "waiting")


@frozen
class Idle:
    """`idle` is None where the server does not tell; `levels` are of its last page, by common name."""

    idle: bool | None
    waited_s: float
    levels: Mapping[str, float]
    why: str = ""


def await_idle(
    url: str | None,
    headers: Mapping[str, str],
    limit_s: float = LIMIT_S,
    sleep: Callable[[float], None] = time.sleep,
) -> Idle:
    """Look at the metrics page until nothing runs and nothing waits, or the time is over.

    A server that answers again and again that it has no such page does not tell.
    """
    began, clock = time.monotonic(), Clock(time.monotonic_ns())
    if url is None:
        return Idle(None, 0.0, {}, "the server has no metrics page")
    levels: Mapping[str, float] = {}
    why, untold = "", 0
    with closing(ServerPage(Target(SERVER, url, headers))) as page:
        while True:
            try:
                levels = page.take(clock).levels
                told = [levels[name] for name in _BUSY if name in levels]
                if not told:
                    return Idle(None, 0.0, levels, "its metrics page tells of no running requests")
                if not any(told):
                    return Idle(True, time.monotonic() - began, levels)
                why = f"{sum(told):,.0f} requests run or wait there still"
            except Missed as missed:
                why = f"its metrics page cannot be read: {missed.why}"
                answered = missed.error_class.startswith(_ANSWERED)
                untold = untold + 1 if answered else 0
                if untold >= _LOOKS:
                    return Idle(None, time.monotonic() - began, {}, why)
            if time.monotonic() - began > limit_s:
                return Idle(False, time.monotonic() - began, levels, why)
            sleep(_EVERY_S)
