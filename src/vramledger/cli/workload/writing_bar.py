"""A bar of requests written, on stderr where that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def writing_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """What takes the requests written and about how many there will be."""
    if not sys.stderr.isatty():
        yield lambda _written, _all: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TextColumn("requests"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda written, of_all: bar.update(task, completed=written, total=of_all)
