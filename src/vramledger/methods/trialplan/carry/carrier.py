"""Carries out a file of trials: each item in a process of its own, none that cannot end in time, all of it resumable."""

from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput, ExitCode, VramError
from vramledger.frozen import frozen
from vramledger.methods.trialplan.budget import Budget
from vramledger.methods.trialplan.carry.child import await_end, run_child, run_shell, still_runs
from vramledger.methods.trialplan.carry.progress import (
    BEGUN,
    ENDED,
    RESTARTED,
    SKIPPED,
    STARTED,
    ItemState,
    Log,
    Progress,
    progress_of,
)
from vramledger.methods.trialplan.carry.words import (
    VRAM,
    Server,
    resume_words,
    settings_words,
    show_words,
    words_of,
)
from vramledger.methods.trialplan.item import READY, SHADOW, Item, kind_named
from vramledger.methods.trialplan.proposal import wants_restart
from vramledger.methods.trialplan.trials_file import Trials
from vramledger.record.closing import writable
from vramledger.record.description import read_description
from vramledger.record.durable import file_sha256
from vramledger.trial.conduct.interrupts import ended_as_by_ctrl_c

ANSWERS: Final = "answers"
RESTARTS: Final = "restarts.log"
_GRACE_S: Final = 60.0  # beyond what an item takes at most, before it is asked to end
_RUN: Final = "run.json"
SETTINGS: Final = "VRAM_SETTINGS"
Tell = Callable[[str], None]
Failed = Callable[[Item, Path], bool]


@frozen
class Carried:
    """What is asked: the file, the server, where all is recorded, how the server is started anew, and until when."""

    trials: Trials
    server: Server
    folder: Path
    restart_command: str | None = None
    until: datetime | None = None
    keep_going: bool = False


@frozen
class Watched:
    """Those who are told: a person, whoever copies finished items, whoever judges one (whether a line of the contract fails)."""

    tell: Tell
    finished: Callable[[], None]
    fails: Failed


@ended_as_by_ctrl_c()
def carry_out(asked: Carried, watched: Watched) -> Budget:
    """Run every item that is not done, in order; the time there was.

    Raises:
        BadInput: the folder is of another file, another carrier has it, or it cannot be written.
        KeyboardInterrupt: Ctrl-C, after the item under way has closed its record.
    """
    folder = asked.folder
    with writable(folder):
        (folder / ANSWERS).mkdir(parents=True, exist_ok=True)
        before = progress_of(folder)
        sha256 = file_sha256(asked.trials.path)
        _refuse_other(before, sha256, asked)
        began = before.began or datetime.now().astimezone()
        budget = asked.trials.budget(began, asked.until)
        with closing(Log(folder, began)) as log:
            log.note(BEGUN, trials_sha256=sha256, url=asked.server.url)
            _Carrier(asked, watched, log, before, budget).run()
    return budget


def item_folder(folder: Path, trials: Trials, item: Item) -> Path:
    """Where an item's run lies: its place in the file and its name."""
    return folder / f"{trials.items.index(item) + 1:02}-{item.name}"


def _refuse_other(before: Progress, sha256: str, asked: Carried) -> None:
    if before.began is not None and before.trials_sha256 != sha256:
        raise BadInput(
            f"{asked.folder} is of another state of {asked.trials.path}; put the file back as it was, or begin in "
            "another folder with -o."
        )


class _Carrier:
    """Goes through the items."""

    def __init__(
        self, asked: Carried, watched: Watched, log: Log, before: Progress, budget: Budget
    ) -> None:
        self._asked, self._watched, self._log, self._before = asked, watched, log, before
        self._budget = budget
        self._running = dict(before.running)
        self._stopped = ""

    def run(self) -> None:
        for item in self._asked.trials.items:
            state = self._before.of(item.name)
            place = item_folder(self._asked.folder, self._asked.trials, item)
            if item.kind == READY:  # asked again until it is: each time in a folder of its own
                place = _free(place)
            if state.done and not (item.kind == READY and state.code):
                self._look_back(item, place, state)
                continue
            why = self._stopped or (
                self._finish(item, place, state) if place.exists() else self._begin(item, place)
            )
            if why:
                self._log.note(SKIPPED, item=item.name, why=why)
                self._watched.tell(f"{item.name}: not run, because {why}.")
            self._watched.finished()

    def _look_back(self, item: Item, place: Path, state: ItemState) -> None:
        """What an item done before says of the rest."""
        self._watched.tell(f"{item.name}: done before.")
        if state.code is not None:
            self._stopped = self._stopped or self._reason_to_stop(item, place, state.code)

    def _begin(self, item: Item, place: Path) -> str:
        """Run an item; why not, where it was not."""
        trials = self._asked.trials
        restart = item.kind != READY and wants_restart(item, self._running)
        takes_s = item.takes_s + (trials.restart_s if restart else 0.0)
        if not self._budget.has_room(datetime.now().astimezone(), takes_s):
            return f"it might not end by {self._end_said()}"
        if restart and (why := self._restart(item)):
            return why
        if kind_named(item.kind).verb == SHADOW:  # its folder says that it was begun
            place.mkdir()
        words = words_of(item, trials, self._asked.server, place)
        self._watched.tell(f"{item.name}: begun, at most {item.takes_s / 60:,.0f} min.")
        return self._run_words(item, place, words)

    def _finish(self, item: Item, place: Path, state: ItemState) -> str:
        """Bring an item to its end that a carrier before this one began."""
        if state.pid is not None and still_runs(state.pid, place):
            self._watched.tell(f"{item.name}: still under way from before, waiting for its end.")
            await_end(state.pid, place)
        if item.kind == SHADOW:
            self._watched.tell(f"{item.name}: made again from its beginning.")
            return self._again(item, place)
        if _closed(place):
            self._watched.tell(f"{item.name}: had ended by itself.")
            return self._run_words(item, place, show_words(place))
        room = self._budget.has_room(datetime.now().astimezone(), item.takes_s)
        if not room and not (place / _RUN).exists():
            return f"it was cut off, and might not end by {self._end_said()}"
        said = "going on where it was cut off" if room else "closed as it was cut off, for time"
        self._watched.tell(f"{item.name}: {said}.")
        return self._run_words(item, place, resume_words(place, close=not room))

    def _again(self, item: Item, place: Path) -> str:
        """Run an item anew that cannot go on."""
        if not self._budget.has_room(datetime.now().astimezone(), item.takes_s):
            return f"it was cut off, and might not end by {self._end_said()}"
        return self._run_words(
            item, place, words_of(item, self._asked.trials, self._asked.server, place)
        )

    def _run_words(self, item: Item, place: Path, words: tuple[str, ...]) -> str:
        answers = self._asked.folder / ANSWERS
        answer, said = (answers / f"{place.name}{ending}" for ending in (".json", ".log"))

        def started(pid: int) -> None:
            self._log.note(STARTED, item=item.name, pid=pid)

        try:
            ended = run_child(words, answer, said, started, item.takes_s + _GRACE_S)
        except KeyboardInterrupt:
            self._log.note(ENDED, item=item.name, code=int(ExitCode.INTERRUPTED))
            raise
        code = int(ExitCode.CANNOT_KNOW) if ended.overran else ended.code
        self._log.note(ENDED, item=item.name, code=code, overran=ended.overran)
        late = "; it took longer than stated and was asked to end" if ended.overran else ""
        self._watched.tell(f"{item.name}: ended, exit code {code}{late}.")
        if code == ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        self._stopped = self._reason_to_stop(item, place, code)
        return ""

    def _reason_to_stop(self, item: Item, place: Path, code: int) -> str:
        if item.kind == READY and code:
            return "the server was not ready"
        if item.kind != "run" or self._asked.keep_going or not _closed(place):
            return ""
        return f"{item.name} has failed the contract" if self._watched.fails(item, place) else ""

    def _restart(self, item: Item) -> str:
        """Start the server anew with the item's settings; why that was not possible."""
        settings, command = settings_words(item.settings), self._asked.restart_command
        told = settings or "the plan's own arguments"
        if command is None:
            return f"it needs you: a server started anew with {told}, or --restart-command"
        self._watched.tell(f"{item.name}: starting the server anew with {told}.")
        log, within = self._asked.folder / RESTARTS, self._asked.trials.restart_s
        code = run_shell(command, {SETTINGS: settings}, log, within)
        if code != 0:
            ended = "did not end in time" if code is None else f"ended with exit code {code}"
            return f"the restart command {ended}; {RESTARTS} has what it said"
        self._running = dict(item.settings)
        self._log.note(RESTARTED, settings=self._running)
        words = (
            *VRAM,
            "trial",
            "warm",
            *self._asked.server.words(),
            "--within",
            f"{within:g}s",
            "--no-record",
        )
        answers = self._asked.folder / ANSWERS
        files = (answers / "restart.json", answers / "restart.log")
        ready = run_child(words, *files, lambda _pid: None, within + _GRACE_S)
        return "" if ready.code == 0 else "the server was not ready again in time"

    def _end_said(self) -> str:
        ends = self._budget.ends
        return "" if ends is None else f"{ends:%H:%M}"


def _free(place: Path) -> Path:
    """The folder, or with a number where it is taken."""
    numbered = (place.with_name(f"{place.name}-{number}") for number in count(2))
    return next(each for each in chain((place,), numbered) if not each.exists())


def _closed(place: Path) -> bool:
    try:
        return read_description(place).ended is not None
    except VramError:
        return False
