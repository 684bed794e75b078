"""One line on stderr while a trial runs, where that is a terminal; elsewhere the phases alone are said."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from vramledger.cli.output import show
from vramledger.report.trial_live import live_line
from vramledger.trial.conduct.watch import Blind, Snapshot, Watch


class _Said(Blind):
    """Says each phase on a line of its own."""

    def phase(self, said: str) -> None:
        show(f"{said} ...", err=True)


@contextmanager
def live_view() -> Iterator[Watch]:
    """What looks on while the block lasts."""
    if not sys.stderr.isatty():
        yield _Said()
        return
    from rich.console import Console
    from rich.status import Status

    with Status("", console=Console(stderr=True)) as status:

        class Live:
            """Shows the phase, then the load."""

            def phase(self, said: str) -> None:
                status.update(said)

            def show(self, snapshot: Snapshot) -> None:
                status.update(live_line(snapshot))

        yield Live()
