"""The real command in a process of its own, and the one sentence it refuses with."""

import subprocess
import sys
from pathlib import Path
from typing import Any

VRAM = [sys.executable, "-m", "vramledger"]
LAUNCH = "vllm serve Qwen/Qwen3-8B"
CARD = ["--gpu", "H100-80GB-SXM"]
SECONDS = 60.0  # far above what any needs; a hang is what it catches
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


def said(arguments: list[str], folder: Path) -> str:
    """The one sentence on stderr, without the program's name."""
    done = vram(arguments, folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("vram: ")
    sentence = done.stderr.removeprefix("vram: ").removesuffix("\n")
    assert sentence.isprintable()  # one line, no control characters
    assert sentence.endswith(".")
    return sentence
