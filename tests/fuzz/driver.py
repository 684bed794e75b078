"""Drives a reader with many hostile inputs, each from its own seed, under bounds on time and memory.

The only outcomes are a result, or a `VramError` whose message is one line that ends in a full
stop. Whatever else happens is reported with the target, the number and the seed that repeat it.
"""

import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from vramledger.errors import VramError

CPU_SECONDS = 10.0  # for one input; most take a thousandth
MEMORY_BYTES = 2 << 30  # on top of what the process has


@dataclass(frozen=True, slots=True)
class Target:
    """One reader.

    Args:
        name: shown and part of every seed.
        cases: inputs in a long run.
        make: an input; everything random in it comes from the argument.
        read: reads the input, in a folder of its own, and checks the result it gives.
        few: inputs in a short run.
        memory_bytes: address space on top of what the process has; libraries reserve more than they use.
    """

    name: str
    cases: int
    make: Callable[[Random], Any]
    read: Callable[[Any, Path], object]
    few: int = 150
    memory_bytes: int = MEMORY_BYTES


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of the inputs."""

    read: int
    refused: int


class TooSlowError(BaseException):
    """An input took more processor time than allowed; no reader may catch it."""


def drive(target: Target, count: int, seed: str, folder: Path, *, show: bool = False) -> Tally:
    """Read `count` inputs; with `show`, the progress goes to the terminal.

    Raises:
        AssertionError: one of them ended in another way; the message says which.
    """
    read = refused = 0
    started = shown = time.monotonic()
    with bounded(target.memory_bytes):
        for index in range(count):
            if outcome(target, index, seed, folder):
                read += 1
            else:
                refused += 1
            now = time.monotonic()
            if show and (now - shown > 2 or index + 1 == count):
                shown = now
                progress(target.name, index + 1, count, now - started)
    return Tally(read, refused)


def outcome(target: Target, index: int, seed: str, folder: Path) -> bool:
    """Whether the input was read (True) or refused (False).

    Raises:
        AssertionError: neither.
    """
    case = target.make(Random(f"{seed}/{target.name}/{index}"))
    cause: BaseException | None = None
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        target.read(case, folder)
    except VramError as refusal:
        message = str(refusal)
        problem = "" if is_a_sentence(message) else f"the message is no sentence: {message!r}"
    except (Exception, TooSlowError) as error:  # noqa: BLE001 - the search is for these
        problem, cause = f"{type(error).__name__}: {error}", error
    else:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if problem:
        shown = repr(case)
        raise AssertionError(
            f"{target.name}, case {index} of seed {seed}: {problem}\ninput: {shown[:4000]}"
        ) from cause
    return False


def is_a_sentence(message: str) -> bool:
    """One line without control characters, ended by a full stop."""
    return message.isprintable() and message.endswith(".") and len(message) > 10


@contextmanager
def bounded(memory_bytes: int = MEMORY_BYTES) -> Iterator[None]:
    """Bounds on processor time of one input and on memory of all; only in the main thread."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {CPU_SECONDS:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + memory_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGVTALRM, before)


def progress(name: str, done: int, count: int, seconds: float) -> None:
    """One line that replaces itself: how far, how fast, how long still."""
    rate = done / max(seconds, 1e-9)
    left = (count - done) / rate
    end = "\n" if done == count else ""
    line = f"\r{name:<14} {done:>7,} of {count:,}  {rate:>7,.0f}/s  {left:>4.0f} s left"
    print(line, end=end, file=sys.stderr, flush=True)  # noqa: T201 - the terminal is the point
