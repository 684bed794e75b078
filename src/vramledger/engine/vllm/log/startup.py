"""`StartupLog`: the readings of one engine start, each with the line it came from."""

from collections import deque
from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import Final

from vramledger.engine.vllm.log.lines import LogLine, read_lines
from vramledger.engine.vllm.log.patterns import ERRORS, PATTERNS, Pattern
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.units import GIB, KIB, MIB

_MOST_READINGS: Final = 100_000
_MOST_RECORDS: Final = 1_000
_VERSION_ROWS: Final = frozenset({"version", "server version", "banner"})
_SERVER_ROWS: Final = frozenset({"server version", "banner"})
_UNITS: Final = {"KiB": KIB, "MiB": MIB, "GiB": GIB}
_OTHER_ENGINES: Final = {
    "sglang": ("Load weight end.", "KV Cache is allocated.", "max_total_num_tokens="),
    "llama.cpp": (
        "llama_model_loader:",
        "llama-server",
        "srv  ",
        "slot   load_model",
        "KV buffer size =",
        "llama_kv_cache",
    ),
    "TensorRT-LLM": ("[TensorRT-LLM]", "[TRT-LLM]", "[MemUsageChange]"),
    "TGI": ("text_generation_launcher", "text_generation_router"),
    "LMDeploy": ("lmdeploy", "[TM]["),
}


@frozen
class Reading:
    """One figure of the log. `name` ends in its unit; `row` is the kind of line."""

    name: str
    value: float
    line: LogLine
    row: str


@frozen
class Failure:
    """An error the engine printed, with its figures."""

    phase: str
    line: LogLine
    readings: tuple[Reading, ...]


@frozen
class StartupLog:
    """The last start in a log. `lines` keeps the records that state the configuration."""

    version: str | None
    v0: bool  # the log says that the V0 engine ran
    readings: tuple[Reading, ...]
    failures: tuple[Failure, ...]
    configuration: tuple[LogLine, ...]
    starts: int

    def all(self, name: str) -> tuple[Reading, ...]:
        """Every reading of that name, in order."""
        return tuple(reading for reading in self.readings if reading.name == name)

    def value(self, name: str) -> float | None:
        """The last reading of that name, None when the log has none."""
        found = self.all(name)
        return found[-1].value if found else None


def read_startup(path: Path) -> StartupLog:
    """The last engine start in a log file.

    Raises:
        BadInput: not a readable file, or no line of it is one of vLLM's start-up lines.
        CannotKnow: the log is another engine's.
    """
    return parse_startup(read_lines(path), str(path))


def parse_startup(lines: Iterable[LogLine], where: str) -> StartupLog:
    """As `read_startup`, from lines; `where` names the log in messages."""
    collector = _Collector()
    for line in lines:
        collector.add(line)
    if collector.started:
        return collector.finish()
    if collector.other is not None:
        raise CannotKnow(
            f"{where} is a start-up log of {collector.other}; only vLLM's logs are read so far."
        )
    raise BadInput(
        f"{where} holds no start-up line of vLLM (such as 'Model loading took' or 'KV cache size'); "
        "give the log from the engine's first line to 'Application startup complete'."
    )


class _Collector:
    """Builds a `StartupLog` line by line; a new server start drops what came before."""

    def __init__(self) -> None:
        self.other: str | None = None
        self.starts = 0
        self._reset()

    def _reset(self) -> None:
        self.version: str | None = None
        self.v0 = False
        # bounded, so that a log of nothing else does not fill the memory; the last ones count
        self.readings: deque[Reading] = deque(maxlen=_MOST_READINGS)
        self.failures: deque[Failure] = deque(maxlen=_MOST_READINGS)
        self.configuration: deque[LogLine] = deque(maxlen=_MOST_RECORDS)

    @property
    def started(self) -> bool:
        return bool(self.readings or self.failures or self.version)

    def add(self, line: LogLine) -> None:
        if "non-default args: {" in line.text or "args: Namespace(" in line.text:
            self.configuration.append(line)
        for pattern, groups in _matches(PATTERNS, line):
            if pattern.name in _VERSION_ROWS:
                self._version(pattern, groups["version"], line)
            else:
                self.readings += _readings(pattern, groups, line)
        for pattern, groups in _matches(ERRORS, line):
            self.failures.append(
                Failure(pattern.name, line, tuple(_readings(pattern, groups, line)))
            )
        if self.other is None and not self.started:
            self.other = other_engine(line.text)

    def _version(self, pattern: Pattern, version: str, line: LogLine) -> None:
        if pattern.name in _SERVER_ROWS and (self.readings or self.failures):
            self._reset()
        if self.version is None:
            self.starts += 1
        self.version = version
        if pattern.name == "version":
            self.v0 = self.v0 or " V0 LLM engine" in line.text
            self.configuration.append(line)

    def finish(self) -> StartupLog:
        return StartupLog(
            version=self.version,
            v0=self.v0,
            readings=tuple(self.readings),
            failures=tuple(self.failures),
            configuration=tuple(self.configuration),
            starts=max(1, self.starts),
        )


def _matches(
    patterns: tuple[Pattern, ...], line: LogLine
) -> Iterator[tuple[Pattern, dict[str, str]]]:
    for pattern in patterns:
        if pattern.cue in line.text:
            match = pattern.regex.search(line.text)
            if match is not None:
                yield pattern, {k: v for k, v in match.groupdict().items() if v is not None}


def _readings(pattern: Pattern, groups: dict[str, str], line: LogLine) -> list[Reading]:
    unit = _UNITS.get(groups.get("asked_unit", ""))
    if unit is not None and (asked := _number(groups["asked"])) is not None:
        return [Reading("asked_gib", asked * unit / GIB, line, pattern.name)]
    return [
        Reading(name, number, line, pattern.name)
        for name, text in groups.items()
        if (number := _number(text)) is not None
    ]


def _number(text: str) -> float | None:
    try:
        number = float(text.replace(",", "").rstrip("."))
    except ValueError:
        return None
    return number if isfinite(number) else None  # a damaged line may hold hundreds of digits


def other_engine(text: str) -> str | None:
    """The other engine whose line this is, None where it is nobody's that is known."""
    for engine, cues in _OTHER_ENGINES.items():
        if any(cue in text for cue in cues):
            return engine
    return None
