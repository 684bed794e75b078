"""What a mirror says on stderr while it runs: one line on a terminal, elsewhere a line every ten seconds.

Nobody may be left to look: a terminal that has gone, or a closed pipe, ends the showing and nothing else.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from vramledger.cli.output import show
from vramledger.errors import BadInput
from vramledger.methods.mirror.asked import MirrorAsked
from vramledger.methods.mirror.serve import Moment, Watch
from vramledger.report.mirror import ending_line, listening_line, live_line

_EVERY_S: Final = 10.0


class _Shown:
    """Tells by `live` what goes on."""

    def __init__(self, asked: MirrorAsked, live: Callable[[Moment], None]) -> None:
        self._asked, self._live = asked, live

    def listening(self, address: str) -> None:
        """Clients may come."""
        _say(listening_line(address, self._asked))

    def show(self, moment: Moment) -> None:
        """Once a second."""
        with suppress(OSError):
            self._live(moment)

    def ending(self, busy: int) -> None:
        """No more is taken."""
        said = ending_line(busy, self._asked.grace_s)
        if said is not None:
            _say(said)


class _Lines:
    """A line now and then."""

    def __init__(self) -> None:
        self._next_s = _EVERY_S

    def __call__(self, moment: Moment) -> None:
        if moment.t_s >= self._next_s:
            self._next_s = moment.t_s + _EVERY_S
            _say(live_line(moment))


@contextmanager
def mirror_view(asked: MirrorAsked) -> Iterator[Watch]:
    """What looks on while the block lasts."""
    if not sys.stderr.isatty():
        yield _Shown(asked, _Lines())
        return
    from rich.console import Console
    from rich.status import Status

    status = Status("", console=Console(stderr=True))
    with suppress(OSError):
        status.start()
    try:
        yield _Shown(asked, lambda moment: status.update(live_line(moment)))
    finally:
        with suppress(OSError):
            status.stop()


def _say(line: str) -> None:
    with suppress(OSError, BadInput):
        show(line, err=True)
