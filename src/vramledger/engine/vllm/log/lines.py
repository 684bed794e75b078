"""Log lines as people paste them: colours, time stamps, container and process tags around the text."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import opened

_LARGEST_LOG: Final = 512 << 20
_LONGEST_LINE: Final = 1 << 16
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|(?<![A-Za-z])\[[0-9;]{1,6}m")
_PROCESS: Final = re.compile(
    r"\((?P<name>(?:APIServer|ApiServer|EngineCore|Worker|VllmWorker|RayWorker)[\w-]*)"
    r"(?: rank=(?P<rank>\d+))? pid=\d+"
)
_TP: Final = re.compile(r"TP(\d+)|[Ww]orker-(\d+)")
_PP: Final = re.compile(r"PP(\d+)")
_DP: Final = re.compile(r"DP(\d+)")


@frozen
class LogLine:
    """One line without colours. `tp`, `pp`, `dp` come from the process tag, None where it has none."""

    number: int
    text: str
    process: str | None
    tp: int | None = None
    pp: int | None = None
    dp: int | None = None


def read_lines(path: Path) -> Iterator[LogLine]:
    """The lines of a log file, streaming; bytes that are not UTF-8 are replaced.

    Raises:
        BadInput: missing, unreadable, no regular file, or larger than 512 MiB.
    """
    with opened(path, "a start-up log") as file:
        if file.size > _LARGEST_LOG:
            raise BadInput(
                f"{path} has {file.size:,} bytes; cut the part from the engine's start to "
                "'Application startup complete' and give that."
            )
        yield from parse_lines(lines_of(file.stream))


def lines_of(stream: BinaryIO) -> Iterator[str]:
    """Lines as text, overlong ones in pieces; zero bytes, which cut logs begin with, are dropped."""
    while piece := stream.readline(_LONGEST_LINE):
        yield piece.replace(b"\0", b"").decode("utf-8", errors="replace")


def parse_lines(raw: Iterable[str]) -> Iterator[LogLine]:
    """Clean lines with their process; JSON log records are opened, one record may hold many lines."""
    for number, line in enumerate(raw, 1):
        for text in _open_json(line[:_LONGEST_LINE]).splitlines():
            yield _line(number, _ANSI.sub("", text))


def _line(number: int, text: str) -> LogLine:
    match = _PROCESS.search(text[:400])
    if match is None:
        return LogLine(number, text, None)
    name = match["name"]
    tp = int(match["rank"]) if match["rank"] else _number(_TP, name)
    return LogLine(number, text, name, tp, _number(_PP, name), _number(_DP, name))


def _number(pattern: re.Pattern[str], name: str) -> int | None:
    match = pattern.search(name)
    if match is None:
        return None
    digits: str = next(group for group in match.groups() if group is not None)
    return int(digits)


def _open_json(line: str) -> str:
    if not line.lstrip().startswith("{"):
        return line
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(record, dict):
        return line
    for key in ("message", "msg", "log", "text", "MESSAGE"):
        if isinstance(record.get(key), str):
            return str(record[key])
    return line
