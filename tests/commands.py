"""The real command in a process of its own, and the one sentence it refuses with."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from vramledger.cli.main import run

VRAM = [sys.executable, "-m", "vramledger"]
LAUNCH = "vllm serve Qwen/Qwen3-8B"
CARD = ["--gpu", "H100-80GB-SXM"]
SECONDS = 180.0  # far above what any needs; a hang is what it catches
ESC = "\x1b"


def vram(arguments: list[str], folder: Path, **settings: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*VRAM, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=settings.pop("capture_output", True),
        text=True,
        check=False,
        timeout=SECONDS,
        errors="surrogateescape",
        **settings,
    )


def vram_here(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in this process, which has its libraries loaded; where the process is not the point."""
    out, err = StringIO(), StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def said(
    arguments: list[str],
    folder: Path,
    command: Callable[..., subprocess.CompletedProcess[str]] = vram,
) -> str:
    """The one sentence on stderr, without the program's name."""
    done = command(arguments, folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("vram: ")
    sentence = done.stderr.removeprefix("vram: ").removesuffix("\n")
    assert sentence.isprintable()  # one line, no control characters
    assert sentence.endswith(".")
    return sentence
