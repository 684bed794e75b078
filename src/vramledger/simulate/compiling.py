"""How long the simulator's machine code was compiled meanwhile, and a word on stderr before it is.

``fast.compiled`` says that it compiles the first time on a machine. Machine code may have to be made again later, as on
another processor that shares the cache folder; numba tells when it does.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from numba.core import event

from vramledger.simulate.fast.compiled import CACHE

_COMPILES: Final = (
    "numba:compile"  # https://numba.readthedocs.io/en/stable/developer/event_api.html
)
_MARKED: Final = "compiled-"  # files of `fast.compiled`, one a kernel that was compiled before


class Compiled(event.Listener):
    """Seconds that compiling took so far; what is compiled within another function counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._since = 0.0

    def on_start(self, started: Any) -> None:
        """A function begins to be compiled."""
        if not self._depth:
            self._since = time.perf_counter()
            _say_again(started.data["dispatcher"].py_func.__module__)
        self._depth += 1

    def on_end(self, _ended: Any) -> None:
        """It is done."""
        self._depth -= 1
        if not self._depth:
            self.seconds += time.perf_counter() - self._since


@contextmanager
def compiling() -> Iterator[Compiled]:
    """Counts while the block lasts."""
    with event.install_listener(_COMPILES, Compiled()) as found:
        yield found


def _say_again(module: str) -> None:
    """Where `fast.compiled` does not say it, because it was compiled here before."""
    kernel = module.split(".")[-2]
    if CACHE is not None and (CACHE / f"{_MARKED}{kernel}").exists():
        print(  # noqa: T201 - progress
            "Compiling the simulator for this processor, which takes about a minute ...",
            file=sys.stderr,
        )
