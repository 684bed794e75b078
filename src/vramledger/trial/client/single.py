"""Some requests by themselves, for a warm-up or a probe, in the caller's own process."""

import time
from collections.abc import Callable, Iterable

from vramledger.errors import CannotKnow
from vramledger.record.requests import RequestRecord
from vramledger.trial.client.client import Client
from vramledger.trial.client.interruptible import run_interruptibly
from vramledger.trial.client.recorded import CountText
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Target


def fetch_one(
    target: Target,
    planned: PlannedRequest,
    zero_ns: int | None = None,
    limits: Limits | None = None,
) -> RequestRecord:
    """Send one request now and wait for its end; times count from `zero_ns`, by default from now.

    Raises:
        BadInput: the target or its key cannot be used.
        CannotKnow: the process was asked to stop before the request had ended.
    """
    found = fetch_all(target, [planned], 1, zero_ns, limits)
    if not found:
        raise CannotKnow("The request had not ended when it was called off; send it again.")
    return found[0]


def fetch_all(
    target: Target,
    load: Iterable[PlannedRequest],
    closed: int | None = None,
    zero_ns: int | None = None,
    limits: Limits | None = None,
    count: CountText | None = None,
    ended: Callable[[RequestRecord], None] = lambda _: None,
) -> list[RequestRecord]:
    """Send some requests, `closed` at a time or each at its due time from now; their records in the order of their ends.

    `count` counts the tokens of answers of which nobody else tells them; `ended` is given each record as soon as it is there.

    Raises:
        BadInput: the target or its key cannot be used.
        KeyboardInterrupt: Ctrl-C; what was under way is given up.
    """
    kept = Kept(ended)

    async def run() -> None:
        now = time.monotonic_ns()
        zero = now if zero_ns is None else zero_ns
        client = Client(target, iter(load), kept, zero, closed, limits, count)
        await client.prepare()
        await client.run(time.monotonic_ns())

    run_interruptibly(run)
    return kept.rows


class Kept:
    """Rows in memory, and each to `ended`."""

    def __init__(self, ended: Callable[[RequestRecord], None]) -> None:
        self.rows: list[RequestRecord] = []
        self._ended = ended

    def begin(self, record: RequestRecord) -> None:
        """Nobody watches."""

    def append(self, record: RequestRecord) -> None:
        """Keep it."""
        self.rows.append(record)
        self._ended(record)
