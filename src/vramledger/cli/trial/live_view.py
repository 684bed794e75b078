"""One line on stderr while a trial runs, where that is a terminal; elsewhere the phases alone are said.

Nobody may be left to look: a terminal that has gone, or a closed pipe, ends the showing and nothing else.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from vramledger.cli.output import show
from vramledger.errors import BadInput
from vramledger.report.trial_live import length_line, live_line
from vramledger.trial.conduct.watch import Blind, Snapshot, Watch


class _Said(Blind):
    """Says each phase on a line of its own, and once how long the load goes on."""

    def __init__(self) -> None:
        self._length_told = False

    def phase(self, said: str) -> None:
        with suppress(OSError, BadInput):
            show(f"{said} ...", err=True)

    def show(self, snapshot: Snapshot) -> None:
        said = None if self._length_told else length_line(snapshot)
        self._length_told = True
        if said is not None:
            with suppress(OSError, BadInput):
                show(said, err=True)


class _Live:
    """Shows the phase, then the load, through `update`."""

    def __init__(self, update: Callable[[str], None]) -> None:
        self._update = update

    def phase(self, said: str) -> None:
        with suppress(OSError):
            self._update(said)

    def show(self, snapshot: Snapshot) -> None:
        with suppress(OSError):
            self._update(live_line(snapshot))


@contextmanager
def live_view() -> Iterator[Watch]:
    """What looks on while the block lasts."""
    if not sys.stderr.isatty():
        yield _Said()
        return
    from rich.console import Console
    from rich.status import Status

    status = Status("", console=Console(stderr=True))
    with suppress(OSError):
        status.start()
    try:
        yield _Live(status.update)
    finally:
        with suppress(OSError):
            status.stop()
