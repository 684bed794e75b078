"""One pass over a log: errors that are known, how far the start came, and the last line that looks like an error.

Nothing grows with the log: of each error the first lines are kept and the rest counted, and a new start drops what came before.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Final

from vramledger.diagnose.startup.error import Hit, KnownError, number
from vramledger.diagnose.startup.errors import ERRORS
from vramledger.diagnose.startup.phases import (
    BEGINNING,
    HEALTHY,
    MADE,
    SERVING,
    STARTS,
    STOPPING,
    later,
    phase_of,
)
from vramledger.diagnose.startup.readings import ROWS
from vramledger.engine.vllm.log.lines import LogLine
from vramledger.engine.vllm.log.startup import other_engine
from vramledger.frozen import frozen

_EACH: Final = 16  # lines kept of one error
_LONGEST: Final = 8_192  # characters of a line that are looked at
_LAST: Final = 8
_LEVEL: Final = re.compile(
    r"(?<![=\w])(?:(?P<quiet>(?P<told>INFO|DEBUG|TRACE)|WARNING)|ERROR|CRITICAL|FATAL)\b"
)
_ERROR: Final = re.compile(
    r"^(?:.*?\b(?:ERROR|CRITICAL|FATAL|F)\b.*?\] ?|[\w.]*|.*?: )?\b(?P<what>(?:[A-Z]\w*\.)*[a-z_.]*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b:? .*|(?:fatal|panic|error|ERROR|FATAL|CRITICAL|Error|E)\b[:\]]? .*)"
)
_FOLLOWS: Final = (
    "engine core initialization failed", "failed core proc", "enginecore failed to start", "engine process failed to start", "workerproc failed to start", "workerproc initialization failed",
    "engine loop has died", "scheduler hit an exception", "scheduler is dead", "traceback (most recent call last)", "output_handler failed", "enginedeaderror", "see root cause above",
    "see stack trace", "application startup failed", "engine core proc", "leaked semaphore", "leaked shared_memory", "child process", "calledprocesserror",
)  # fmt: skip
_VERSION: Final = re.compile(r"(?:sglang|tensorrt[-_]?llm|lmdeploy|text-generation-launcher|llama\.cpp|version:?)[ =v]+(?P<v>\d+\.\d+[\w.+-]*)", re.IGNORECASE)  # fmt: skip
_CARD: Final = re.compile(r"(?:NVIDIA|AMD|Tesla) (?:GeForce |Instinct )?(?:RTX |A|H|L|T|V|B|GH|GB|MI|R)\w*(?:[ -](?:\w+GB|PCIe|SXM\d?|NVL|HBM\w*|Ti|SUPER|Ada|Generation|Laptop|GPU)\b)*")  # fmt: skip
_SETTINGS: Final = re.compile(
    r"\b(?P<name>mem_fraction_static|tp_size|chunked_prefill_size|context_length|n_ctx|n_layer|n_gpu_layers|max_batch_prefill_tokens|max_total_tokens|port|cache_max_entry_count|"
    r"free_gpu_memory_fraction|max_seq_len|max_batch_size) *[=:] *'?(?P<value>\d[\d.]*)"
)  # fmt: skip
_FREE: Final = re.compile(r"using device .*?- (?P<mib>\d+) MiB free")
_MOST_SETTINGS: Final = 64


@frozen
class Start:
    """One start in a log. `healthy` says that it came to serve, `stopping` that it was then shut down in order."""

    line: int
    phase: str
    healthy: bool
    made: bool  # the engine was ready, whether or not a server was before it
    stopping: bool
    hits: tuple[Hit, ...]
    last_errors: tuple[LogLine, ...]
    settings: dict[str, str]
    processes: int
    figures: tuple[tuple[str, str, float, int], ...] = ()  # label, unit, value, line


@frozen
class Scan:
    """A log read once: its starts but the last in short, and the last in full."""

    lines: int
    engine: str | None
    version: str | None
    card: str | None  # as the driver prints it
    earlier: tuple[Start, ...]
    last: Start


class Scanner:
    """Looks at lines as they pass; `over` hands them on."""

    def __init__(self) -> None:
        self.lines = 0
        self.engine: str | None = None
        self.version: str | None = None
        self.card: str | None = None
        self._earlier: deque[Start] = deque(maxlen=_LAST)
        self._begin(1)

    def _begin(self, line: int) -> None:
        self._line, self._phase, self._serving, self._made, self._stopping = (
            line,
            BEGINNING,
            False,
            False,
            False,
        )
        self._hits: dict[str, list[Hit]] = {}
        self._counts: Counter[str] = Counter()
        self._errors: deque[LogLine] = deque(maxlen=_LAST)
        self._settings: dict[str, str] = {}
        self._processes: set[str] = set()
        self._figures: dict[tuple[str, str], tuple[float, int]] = {}

    def over(self, lines: Iterable[LogLine]) -> Iterator[LogLine]:
        """The same lines, each looked at."""
        for line in lines:
            self.add(line)
            yield line

    def add(self, line: LogLine) -> None:
        """Look at one line."""
        self.lines = max(self.lines, line.number)
        text = line.text[:_LONGEST]
        if '" 200' in text or not text.strip():
            return
        lowered = text.lower()
        if any(piece in lowered for piece in STARTS) and (self._phase != BEGINNING or self._hits):
            self._earlier.append(self._start())
            self._begin(line.number)
        self._progress(lowered)
        self._identify(line, text, lowered)
        if not self._serving and self.engine != "vllm":
            self._read(line, text)
        if self._stopping and self._serving:
            return  # what breaks while a server is shut down is no cause
        level = _LEVEL.search(text[:160])
        quiet = level is not None and level["quiet"] is not None
        told = level is not None and level["told"] is not None
        known = self._known(line, text, lowered, quiet=quiet, told=told)
        if (
            not known
            and not quiet
            and not any(piece in lowered for piece in _FOLLOWS)
            and _ERROR.match(text)
        ):
            self._errors.append(line)

    def _progress(self, lowered: str) -> None:
        self._made = self._made or any(piece in lowered for piece in MADE)
        reached = phase_of(lowered)
        if reached is not None:
            self._phase = later(self._phase, reached)
            self._serving = self._serving or any(piece in lowered for piece in HEALTHY)
        if self._phase == SERVING and any(piece in lowered for piece in STOPPING):
            self._stopping = True

    def _identify(self, line: LogLine, text: str, lowered: str) -> None:
        if line.process and len(self._processes) < _MOST_SETTINGS:
            self._processes.add(line.process)
        if self.engine is None and ("vllm" in lowered or "enginecore" in lowered):
            self.engine = "vllm"
        elif self.engine is None:
            self.engine = other_engine(text)
        if self.version is None and (found := _VERSION.search(text)):
            self.version = found["v"]
        if self.card is None and (named := _CARD.search(text)):
            self.card = named[0]
        if len(self._settings) < _MOST_SETTINGS and ("=" in text or ":" in text):
            for each in _SETTINGS.finditer(text):
                self._settings.setdefault(each["name"], each["value"])
            if free := _FREE.search(text):
                self._settings.setdefault("free_mib", free["mib"])

    def _read(self, line: LogLine, text: str) -> None:
        for reading in ROWS:
            if reading.cue in text and (match := reading.regex.search(text)):
                key, value = (reading.label, reading.unit), number(match["value"])
                if value is not None:
                    before = self._figures.get(key, (0.0, 0))[0] if reading.adds else 0.0
                    self._figures[key] = (before + value, line.number)

    def _known(self, line: LogLine, text: str, lowered: str, *, quiet: bool, told: bool) -> bool:
        """Whether the line is a known error; `quiet` ones are no errors by their level, `told` ones not even warnings."""
        found = False
        for error in ERRORS:
            counts = error.any_level or (error.warned and not told) or not quiet
            if not counts or not any(cue in lowered for cue in error.cues):
                continue
            match = error.regex.search(text)
            if match is not None:
                found = True
                self._keep(
                    error, line, {k: v for k, v in match.groupdict().items() if v is not None}
                )
        return found

    def _keep(self, error: KnownError, line: LogLine, groups: dict[str, str]) -> None:
        self._counts[error.id] += 1
        kept = self._hits.setdefault(error.id, [])
        if len(kept) < _EACH:
            kept.append(Hit(error, line, groups, SERVING if self._serving else self._phase))

    def _start(self) -> Start:
        hits = tuple(
            Hit(first.error, first.line, _fullest(kept), first.phase, self._counts[first.error.id])
            for kept in self._hits.values()
            for first in kept[:1]
        )
        return Start(
            line=self._line,
            phase=self._phase,
            healthy=self._serving,
            made=self._made,
            stopping=self._stopping,
            hits=hits,
            last_errors=tuple(self._errors),
            settings=dict(self._settings),
            processes=len(self._processes),
            figures=tuple((*key, *told) for key, told in self._figures.items()),
        )

    def finish(self) -> Scan:
        """What was seen."""
        return Scan(
            self.lines, self.engine, self.version, self.card, tuple(self._earlier), self._start()
        )


def _fullest(kept: list[Hit]) -> dict[str, str]:
    """The groups of the line that says most; several workers print one error, some of them cut short."""
    return dict(max(kept, key=lambda hit: len(hit.groups)).groups)
