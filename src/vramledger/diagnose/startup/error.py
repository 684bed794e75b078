"""A known error: how it is recognised, and what it comes to with the figures of its log."""

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from math import isfinite

from vramledger.diagnose.told import Amount, Change
from vramledger.engine.launch import Launch
from vramledger.engine.vllm.log.lines import LogLine
from vramledger.engine.vllm.log.startup import StartupLog
from vramledger.frozen import frozen

_UNITS = {"B": 1 / (1 << 30), "KIB": 1 / (1 << 20), "MIB": 1 / 1024, "GIB": 1.0, "TIB": 1024.0}
_BYTES = {"BYTES": "B", "KB": "KIB", "MB": "MIB", "GB": "GIB"}


@frozen
class Facts:
    """What else the log says: readings and launch where it is vLLM's, settings that other engines print, and how far it got."""

    engine: str | None
    version: str | None
    phase: str
    log: StartupLog | None = None
    launch: Launch | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    oom: Mapping[str, str] = field(
        default_factory=dict
    )  # groups of the first allocation that failed

    def setting(self, name: str) -> float | None:
        """A number that the launch states under that flag, or that the log prints; None where neither does."""
        text = self.settings.get(name.replace("-", "_"))
        flag = None if self.launch is None else self.launch.flag(name)
        if flag is not None and flag.value:
            text = flag.value
        return None if text is None else number(text)

    def reading(self, name: str) -> float | None:
        """The last reading of a line that carries memory figures."""
        return None if self.log is None else self.log.value(name)


@frozen
class Said:
    """What an error comes to: the cause in one or two sentences, its arithmetic, and the smallest change."""

    message: str
    arithmetic: tuple[str, ...] = ()
    change: Change | None = None
    unseen: tuple[str, ...] = ()


Say = Callable[[Mapping[str, str], Facts], Said]


@frozen
class KnownError:
    """One error. `cues` are lower-case pieces of which one must stand in the line; `samples` are lines that it is.

    `rank` orders causes in one log, the lowest first: 0 says what failed in full, 1 by its kind, 2 what may follow from others.
    """

    id: str
    cause: str
    regex: re.Pattern[str]
    cues: tuple[str, ...]
    samples: tuple[str, ...]
    say: Say
    rank: int = 1
    memory: bool = False  # a larger card or more of it would have been enough
    any_level: bool = False  # also in lines that the engine calls information or warning
    warned: bool = False  # also in warnings; a line of information only mentions it
    severity: str = "error"  # of it once the server serves


@frozen
class Hit:
    """An error as it was met: its first line, the named groups there, and how often it came."""

    error: KnownError
    line: LogLine
    groups: Mapping[str, str]
    phase: str
    count: int = 1


def row(
    id: str,  # noqa: A002 - the name of the field
    cause: str,
    regex: str,
    say: Say,
    *samples: str,
    cues: tuple[str, ...],
    rank: int = 1,
    memory: bool = False,
    any_level: bool = False,
    warned: bool = False,
    severity: str = "error",
) -> KnownError:
    """One row of a table of errors; case is ignored."""
    compiled = re.compile(regex, re.IGNORECASE)
    return KnownError(
        id, cause, compiled, cues, samples, say, rank, memory, any_level, warned, severity
    )


def plain(message: str, text: str = "", flag: str | None = None, value: str | None = None) -> Say:
    """An error whose words need no arithmetic; groups of the line may stand in braces."""

    def say(groups: Mapping[str, str], _: Facts) -> Said:
        known = _Known(groups)
        said = value.format_map(known) if value is not None else None
        change = text.format_map(known) or (
            f"--{flag} {said}" if flag and said else f"--{flag}" if flag else ""
        )
        return Said(
            message.format_map(known), change=Change(change, flag, said) if change else None
        )

    return say


class _Known(dict[str, str]):
    """Groups by name; one that the line does not have is written as a word."""

    def __init__(self, groups: Mapping[str, str]) -> None:
        super().__init__((name, shortened(value)) for name, value in groups.items())

    def __missing__(self, name: str) -> str:
        return "unknown"


def shortened(text: str, most: int = 160) -> str:
    """Foreign text in a sentence: its end is cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most]}…"


def number(text: str | None) -> float | None:
    """A finite number, None where the text is none."""
    if text is None:
        return None
    try:
        found = float(text.replace(",", "").rstrip("."))
    except ValueError:
        return None
    return found if isfinite(found) else None


def gib(text: str | None, unit: str | None) -> float | None:
    """An amount of memory in GiB; "GB" in messages of engines is 2^30."""
    amount = number(text)
    name = (unit or "GiB").upper()
    factor = _UNITS.get(_BYTES.get(name, name))
    return None if amount is None or factor is None else amount * factor


def amounts(hit: Hit) -> tuple[Amount, ...]:
    """The numbers of an error's line; names of groups end in their unit."""
    from vramledger.evidence import Basis

    found = []
    for name, text in hit.groups.items():
        value, (stem, _, unit) = number(text), name.rpartition("_")
        if value is not None and unit in (
            "gib",
            "tokens",
            "share",
            "rows",
            "blocks",
            "count",
            "kib",
        ):
            source = f"line {hit.line.number} of the log"
            found.append(
                Amount(stem, value, "GiB" if unit == "gib" else unit, Basis.MEASURED, source)
            )
    return tuple(found)
