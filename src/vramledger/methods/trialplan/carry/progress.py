"""What became of each item so far, from the journal of a folder of trials."""

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput, ExitCode
from vramledger.frozen import frozen
from vramledger.record import journal
from vramledger.record.journal import Journal, read_journal

BEGUN, STARTED, ENDED, SKIPPED, RESTARTED = "begun", "started", "ended", "skipped", "restarted"


@frozen
class ItemState:
    """Of one item: the number of its process, its exit code, why it was skipped last; None and empty where that did not happen.

    An item that was interrupted or refused counts as not ended.
    """

    pid: int | None = None
    code: int | None = None
    skipped: str = ""

    @property
    def done(self) -> bool:
        """Whether it has come to an end."""
        return self.code is not None


@frozen
class Progress:
    """Of all items, by name. `began` is when the first carrier began, `running` the settings the server was last started with."""

    began: datetime | None = None
    trials_sha256: str = ""
    items: Mapping[str, ItemState] = field(default_factory=dict)
    running: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> ItemState:
        """One item's."""
        return self.items.get(name, ItemState())


def progress_of(folder: Path) -> Progress:
    """What the journal tells; nothing where there is none.

    Raises:
        BadInput: it is none of a folder of trials.
    """
    if not (folder / journal.FILE).is_file():
        return Progress()
    began, sha256 = None, ""
    items: dict[str, ItemState] = {}
    running: Mapping[str, str] = {}
    try:
        for entry in read_journal(folder).entries:
            found = entry.details
            if entry.event == BEGUN and began is None:
                began, sha256 = datetime.fromisoformat(found["at"]), str(found["trials_sha256"])
            elif entry.event == RESTARTED:
                running = dict(found["settings"])
            elif entry.event in _STATES:
                items[found["item"]] = _STATES[entry.event](found)
    except (KeyError, TypeError, ValueError):
        raise BadInput(f"{folder} is no folder of trials; name another with -o.") from None
    return Progress(began, sha256, items, running)


def _ended(found: Mapping[str, Any]) -> ItemState:
    """Neither an interruption nor a refusal is an end."""
    code = int(found["code"])
    if code == ExitCode.BAD_INPUT:
        return ItemState(skipped="it was refused; its log in answers/ says why")
    return ItemState(code=None if code == ExitCode.INTERRUPTED else code)


_STATES: Final[Mapping[str, Callable[[Mapping[str, Any]], ItemState]]] = {
    STARTED: lambda found: ItemState(pid=int(found["pid"])),
    ENDED: _ended,
    SKIPPED: lambda found: ItemState(skipped=str(found["why"])),
}


class Log:
    """Appends to the journal; one carrier at a time has it.

    Raises:
        BadInput: another one has it.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, began: datetime) -> None:
        self._journal, self._began = Journal(folder), began

    def note(self, event: str, **details: Any) -> None:
        """One line, on disk when this returns."""
        now = datetime.now().astimezone()
        since = (now - self._began).total_seconds()
        self._journal.append(since, event, at=now.isoformat(timespec="milliseconds"), **details)
        self._journal.sync()

    def close(self) -> None:
        """Let go of it."""
        self._journal.close()
