"""A bar on stderr that names what is simulated, with its rate and the time left; nothing where that is no terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

Progress: TypeAlias = Callable[[int, int], None]  # requests done, and those there are in all
Announce: TypeAlias = Callable[[str], Progress]  # told what is simulated next


@contextmanager
def candidate_bar() -> Iterator[Announce]:
    """What is told the name of each simulation when it begins, while the block lasts."""
    if not sys.stderr.isatty():
        yield lambda _name: lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("requests"),
        _rate(), TimeLeft(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulate", total=None)

        def announce(name: str) -> Callable[[int, int], None]:
            bar.reset(task, description=f"simulate {name}", total=None)
            return lambda done, of_all: bar.update(task, completed=done, total=of_all)

        yield announce


def _rate() -> "ProgressColumn":
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f}/s")

    return Rate()
