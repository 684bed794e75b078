"""One process of the real engine's environment, and what it answers."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QUIET = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_HOST_IP": "127.0.0.1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True)
class Outcome:
    """What the engine did with a launch."""

    answer: dict[str, Any]
    printed: str

    @property
    def refused(self) -> str:
        """The engine's own words, empty when it started."""
        return str(self.answer.get("refused", ""))

    def line(self, part: str) -> str:
        """The first printed message that holds `part`, without its prefix of time and place."""
        found = next((line for line in self.printed.splitlines() if part in line), "")
        return found.partition("] ")[2]


class Engine:
    """A process of the engine's environment that starts the engine again and again."""

    def __init__(self, python: Path, log: Path) -> None:
        self.log = log
        with log.open("ab") as sink:
            self.process = subprocess.Popen(
                [str(python), str(Path(__file__).with_name("engine_worker.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                text=True,
                env=os.environ | QUIET,
            )

    def start(self, arguments: Sequence[str]) -> Outcome:
        """Start the engine with the words after ``vllm serve`` and read what it says."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        before = self.log.stat().st_size
        self.process.stdin.write(json.dumps({"arguments": list(arguments)}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the engine process ended: {self.log.read_text()[-2000:]}"
        printed = self.log.read_bytes()[before:].decode(errors="replace")
        return Outcome(json.loads(answer), printed)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)
