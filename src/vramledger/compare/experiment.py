"""The experiment log: what was asked, the one thing that was changed, what was expected and what came of it, a line a comparison.

The file is only ever appended to. A line is JSON with sorted keys and goes in as one piece under a lock; one that was cut off by a crash is
dropped by the next writer and left out by readers.
"""

import fcntl
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from vramledger.compare.choice import Choice
from vramledger.compare.comparison import Comparison
from vramledger.compare.finding import Finding, Standing
from vramledger.errors import BadInput
from vramledger.record.description import canonical

SCHEMA: Final = "vramledger.experiment/1"
_LARGEST: Final = 1 << 26  # bytes of a log
_DIGITS: Final = 6
_TOLD: Final = (Standing.DIFFERS, Standing.SMALL)


def experiment(
    found: Sequence[Comparison],
    choice: Choice | None,
    *,
    question: str | None,
    expect: str | None,
    now: datetime,
) -> dict[str, Any]:
    """What one comparison puts into the log."""
    sides = [found[0].a, *(each.b for each in found)]
    return {
        "schema": SCHEMA,
        "at": now.astimezone(UTC).isoformat(timespec="seconds"),
        "question": question,
        "expect": expect,
        "sides": {each.name: [str(path) for path in each.paths] for each in sides},
        "basis": {each.name: str(each.told.description.origin) for each in sides},
        "results": [_result(each) for each in found],
        "chosen": None if choice is None else choice.chosen,
        "choice": None if choice is None else choice.why,
    }


def _result(found: Comparison) -> dict[str, Any]:
    said = found.attribution
    change = said.change if said.attributable else None
    return {
        "side": found.b.name,
        "attribution": str(said.answer),
        "change": None if change is None else {"name": change.title, "a": change.a, "b": change.b},
        "reason": said.why or None,
        "compared": len(found.findings),
        "effects": [_effect(each) for each in found.findings if each.standing in _TOLD],
    }


def _effect(found: Finding) -> dict[str, Any]:
    effect = found.chosen
    size = effect.difference if effect.relative is None else effect.relative
    return {
        "name": found.figure.name,
        "statistic": found.figure.statistic,
        "standing": str(found.standing),
        "effect": _number(size),
        "low": _number(effect.low),
        "high": _number(effect.high),
    }


def _number(value: float) -> float | str:
    """Infinite ones as text, which JSON has no number for."""
    rounded = float(f"{value:.{_DIGITS}g}")
    return rounded if abs(rounded) < float("inf") else str(rounded)


def append_experiment(path: Path, entry: dict[str, Any]) -> None:
    """Add a line, whole and on disk, or none.

    Raises:
        BadInput: the file cannot be written, or is no log of experiments.
    """
    if path.exists():
        read_experiments(path)
    line = canonical(entry) + b"\n"
    try:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror}); name another file with --log.") from None  # fmt: skip
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        _append(file, line)
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror}); nothing was added.") from None
    finally:
        os.close(file)


def _append(file: int, line: bytes) -> None:
    """After the last whole line."""
    size = os.fstat(file).st_size
    whole = os.pread(file, size, 0).rfind(b"\n") + 1
    if whole < size:
        os.ftruncate(file, whole)
    try:
        while line:
            line = line[os.write(file, line) :]
        os.fsync(file)
    except OSError:
        os.ftruncate(file, whole)
        raise


def read_experiments(path: Path) -> tuple[dict[str, Any], ...]:
    """The entries, in order of writing.

    Raises:
        BadInput: there is no such file, or it is no log of experiments.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); vram compare A B --log {path} begins one.") from None  # fmt: skip
    if len(content) > _LARGEST:
        raise BadInput(f"{path} is larger than {_LARGEST >> 20} MiB, which no log of experiments is; name another file.")  # fmt: skip
    *lines, _ = content.split(b"\n")
    return tuple(_entry(path, number, line) for number, line in enumerate(lines, 1))


def _entry(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA or not _is_whole(found):
        raise BadInput(f"{path}, line {number}: no entry of an experiment log ({SCHEMA}); name a file that --log wrote.")  # fmt: skip
    return found


def _is_whole(found: dict[str, Any]) -> bool:
    results, sides = found.get("results"), found.get("sides")
    listed = isinstance(results, list) and all(
        isinstance(each, dict) and isinstance(each.get("effects"), list) for each in results
    )
    return listed and isinstance(sides, dict) and isinstance(found.get("at"), str)
