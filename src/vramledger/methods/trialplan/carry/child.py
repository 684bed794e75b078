"""An item as a process of its own, which outlives a carrier that is killed and is found again."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from vramledger.frozen import frozen

_LOOK_S: Final = 0.2
_END: Final = signal.SIGTERM  # heeded as Ctrl-C is, also where a background job ignores that
Started: TypeAlias = Callable[[int], None]


@frozen
class Ended:
    """An exit code, and whether the process had to be asked to end."""

    code: int
    overran: bool = False


def run_child(
    words: Sequence[str], answer: Path, said: Path, started: Started, longest_s: float
) -> Ended:
    """Run it to its end. `started` is told its number at once.

    Ctrl-C is handed on, so that the item drains and closes its record; a second one too, which cancels. What
    takes longer than `longest_s` is asked to end in the same way.

    Raises:
        KeyboardInterrupt: after the item has ended because of it.
        OSError: it cannot be started.
    """
    with answer.open("wb") as out, said.open("ab") as err:
        process = subprocess.Popen(  # noqa: S603 - our own module
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
    started(process.pid)
    return _awaited(process, time.monotonic() + longest_s)


def _awaited(process: "subprocess.Popen[bytes]", end: float) -> Ended:
    interrupted = overran = False
    while True:
        try:
            code = process.wait(None if overran else max(end - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            overran = True
            process.send_signal(_END)
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(_END)
        else:
            if interrupted:
                raise KeyboardInterrupt
            return Ended(code, overran)


def still_runs(pid: int, folder: Path) -> bool:
    """Whether the process of that number is the one that records in that folder."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    place = os.fsencode(str(folder))
    return any(word == place or word.startswith(place + b"/") for word in words)


def await_end(pid: int, folder: Path) -> None:
    """Wait for the process that a carrier before us left behind.

    Raises:
        KeyboardInterrupt: Ctrl-C, which is handed on.
    """
    while still_runs(pid, folder):
        try:
            time.sleep(_LOOK_S)
        except KeyboardInterrupt:
            os.kill(pid, _END)
            raise


def run_shell(command: str, extra: Mapping[str, str], said: Path, within_s: float) -> int | None:
    """A command of the user's, by the shell; its exit code, None where it did not end in time.

    Only the shell is waited for: a server that it leaves in the background goes on.
    """
    with said.open("ab") as out:
        process = subprocess.Popen(  # noqa: S602 - the user's own command, for the user's own shell
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, **extra},
            start_new_session=True,
        )
    try:
        return process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None
