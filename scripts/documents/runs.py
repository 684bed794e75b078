"""Runs in the documents: a marked console block holds a command and what it really prints.

A block is ``<!-- run -->`` (or ``<!-- run exit 1 -->``, ``<!-- run lines 12 -->``) on a line of its
own, followed by a ``console`` fence. Its lines that begin with ``$ `` are commands; everything else
is output and is rewritten. Three commands are understood: ``vram ...``, ``vram ... > FILE`` and
``cat FILE``. A page's commands run one after another in a copy of `docs/examples`, with the logs of
`examples` beside them.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vramledger.cli.main import run as vram

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "docs" / "examples"
LOGS: Final = "*.csv.gz"  # of `examples`
BLOCK: Final = re.compile(
    r"^<!-- run(?P<options>(?: \w+ \d+)*) -->\n```console\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_ENVIRONMENT: Final = {"COLUMNS": "100", "NO_COLOR": "1"}
_CUT: Final = "..."


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command printed on both streams, and its exit code."""

    command: str
    output: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class Block:
    """One marked block: its commands in order, and what the page expects of the last one."""

    commands: tuple[str, ...]
    exit_code: int
    lines: int | None  # how many lines of output are shown; all where None


def filled(text: str) -> str:
    """The page with every marked block run anew.

    Raises:
        SystemExit: a command ended with another exit code than its block states.
    """
    if BLOCK.search(text) is None:
        return text
    with examples_folder():
        return BLOCK.sub(_rewritten, text)


@contextlib.contextmanager
def examples_folder() -> Iterator[Path]:
    """A fresh copy of the examples as the current directory, with a fixed width and no colours."""
    before, saved = Path.cwd(), {name: os.environ.get(name) for name in _ENVIRONMENT}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(shutil.copytree(EXAMPLES, Path(folder) / "examples"))
        for log in (ROOT / "examples").glob(LOGS):
            shutil.copy(log, place)
        os.chdir(place)
        os.environ.update(_ENVIRONMENT)
        try:
            yield place
        finally:
            os.chdir(before)
            _restore(saved)


def _restore(saved: dict[str, str | None]) -> None:
    for name, value in saved.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


def block_of(match: re.Match[str]) -> Block:
    """The block that a match of `BLOCK` stands for."""
    words = match["options"].split()
    options = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    commands = tuple(line[2:] for line in match["body"].splitlines() if line.startswith("$ "))
    return Block(commands, options.get("exit", 0), options.get("lines"))


def executed(command: str) -> Outcome:
    """Run one command of a page in the current directory."""
    words = shlex.split(command)
    target = None
    if ">" in words:
        target = Path(words[words.index(">") + 1])
        words = words[: words.index(">")]
    if words[0] == "cat":
        return Outcome(command, Path(words[1]).read_text(encoding="utf-8"), 0)
    if words[0] != "vram":
        raise SystemExit(f"The documents run vram and cat, not {words[0]}: {command}")
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = vram(words[1:])
    if target is not None:
        target.write_text(out.getvalue(), encoding="utf-8")
        return Outcome(command, errors.getvalue(), code)
    return Outcome(command, out.getvalue() + errors.getvalue(), code)


def _rewritten(match: re.Match[str]) -> str:
    block = block_of(match)
    lines = []
    for number, command in enumerate(block.commands, 1):
        outcome = executed(command)
        expected = block.exit_code if number == len(block.commands) else 0
        if outcome.exit_code != expected:
            raise SystemExit(
                f"{command!r} ended with {outcome.exit_code}, the page says {expected}: "
                f"{outcome.output.strip()}"
            )
        lines += [f"$ {command}", *_shown(outcome.output, block.lines)]
    body = "\n".join(lines)
    return f"<!-- run{match['options']} -->\n```console\n{body}\n```"


def _shown(output: str, most: int | None) -> list[str]:
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    if most is None or len(lines) <= most:
        return lines
    return [*lines[:most], _CUT]
