"""A bar on stderr where that is a terminal; elsewhere nothing is shown, and rich not imported."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

Progress: TypeAlias = Callable[[int, int], None]  # done, and about how much there is in all


@contextmanager
def progress_bar(what: str, unit: str = "") -> Iterator[Progress]:
    """What takes the `unit`s done and those there are in all; bytes with their rate where it is ""."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    counted = _of_units(unit) if unit else _of_bytes()
    columns = (TextColumn("{task.description}"), BarColumn(), *counted, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of_all: bar.update(task, completed=done, total=of_all)


def _of_units(unit: str) -> "tuple[ProgressColumn, ...]":
    from rich.progress import MofNCompleteColumn, TextColumn

    return MofNCompleteColumn(), TextColumn(unit)


def _of_bytes() -> "tuple[ProgressColumn, ...]":
    from rich.progress import DownloadColumn, TransferSpeedColumn

    return DownloadColumn(), TransferSpeedColumn()
