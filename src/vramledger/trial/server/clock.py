"""A server's clock against ours, to some milliseconds, although what it tells has whole seconds.

Each answer that tells second S was made while the server's clock was between S and S + 1, and between our asking and our
having it. The offset is therefore in an interval, and that of many answers in all of theirs at once: from the answer
in which the second turns on, it is no wider than two answers. This is the midpoint method of network time (RFC 5905, 8)
with the tick in place of a time stamp.

Two things tell: the header Date (RFC 9110, 6.6.1), and `created` of /v1/models, which vLLM, SGLang and llama.cpp set when
they answer. A uvicorn server renews its Date once a second, at a moment of its own
(https://github.com/encode/uvicorn/blob/master/uvicorn/server.py, `on_tick`), so its Date may be a second old.
"""

import json
import time
from collections.abc import Callable, Mapping
from math import inf
from typing import Final

from vramledger.frozen import frozen
from vramledger.trial.sampling.fetching import Fetched, PageConnection
from vramledger.trial.sampling.source import Missed

_LONGEST_S: Final = 1.1  # in which a second turns
_PAUSE_S: Final = 0.01
_NARROW_S: Final = 0.02
_TIMEOUT_S: Final = 2.0


@frozen
class ClockOffset:
    """The server's clock less ours, and by how much it may be off."""

    offset_s: float
    error_s: float


class _Interval:
    """Where the offset is, after the answers so far; `told` are the seconds that they told."""

    def __init__(self) -> None:
        self.low, self.high = -inf, inf
        self.told: set[float] = set()

    def take(self, second: float, old_s: float, before: float, after: float) -> None:
        """An answer between two of our moments told a second, which was renewed at most `old_s` ago."""
        self.low = max(self.low, second - after)
        self.high = min(self.high, second + 1.0 + old_s - before)
        self.told.add(second)

    @property
    def width(self) -> float:
        return self.high - self.low


def clock_offset(
    address: str, headers: Mapping[str, str], now: Callable[[], float] = time.time
) -> ClockOffset | None:
    """Ask an address for about a second, many times over one connection.

    None where it tells no time, cannot be reached, or its answers contradict each other, as those of several servers
    behind one address may.
    """
    connection = PageConnection(address, headers, _TIMEOUT_S)
    by_date, by_body = _Interval(), _Interval()
    end = time.monotonic() + _LONGEST_S
    try:
        while time.monotonic() < end and not _narrow(by_date, by_body):
            before = now()
            found = connection.get()
            after = now()
            _take(found, by_date, by_body, before, after)
            time.sleep(_PAUSE_S)
    except Missed:
        return None
    finally:
        connection.close()
    # `created` is a clock only where it moved: other servers tell there when they were started
    usable = [by_date, *([by_body] if len(by_body.told) > 1 else [])]
    best = min((each for each in usable if each.told), key=lambda each: each.width, default=None)
    if best is None or best.width < 0:
        return None
    return ClockOffset(round((best.low + best.high) / 2, 4), round(best.width / 2, 4))


def _narrow(*found: _Interval) -> bool:
    return any(len(each.told) > 1 and each.width <= _NARROW_S for each in found)


def _take(
    found: Fetched, by_date: _Interval, by_body: _Interval, before: float, after: float
) -> None:
    date = _moment(found.headers.get("date", ""))
    if date is not None:
        renewed_late = found.headers.get("server", "").strip().lower() == "uvicorn"
        by_date.take(date, 1.0 if renewed_late else 0.0, before, after)
    created = _created(found.body)
    if created is not None:
        by_body.take(created, 0.0, before, after)


def _moment(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None


def _created(body: bytes) -> float | None:
    """`created` of the first model."""
    try:
        entry = json.loads(body)["data"][0]["created"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return float(entry) if isinstance(entry, int) and not isinstance(entry, bool) else None
