"""The process that holds vLLM's scheduler, fed with cases."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final, Self

_SOURCE: Final = Path(__file__).parents[2] / "src"
_QUIET: Final = {
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_HOST_IP": "127.0.0.1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "PYTHONWARNINGS": "ignore",
}


class RealScheduler:
    """vLLM's scheduler in an environment of its own; a context, so that the process ends."""

    def __init__(self, python: Path) -> None:
        self.version = ""
        self._process = subprocess.Popen(
            [str(python), str(Path(__file__).with_name("real_scheduler.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | _QUIET | {"PYTHONPATH": str(_SOURCE)},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait(timeout=60)

    def answer(self, case: dict[str, Any]) -> dict[str, Any]:
        """What the real scheduler does with a case; raises `RuntimeError` when its process is gone."""
        self.ask(case)
        return self.told()

    def ask(self, case: dict[str, Any]) -> None:
        """Hand over a case; `told` has the answer, and until then the caller can work too."""
        if self._process.stdin is None:
            raise RuntimeError("The process of the real scheduler has no pipe to write to.")
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()

    def told(self) -> dict[str, Any]:
        """The answer to the case handed over last."""
        if self._process.stdout is None:
            raise RuntimeError("The process of the real scheduler has no pipe to read from.")
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                "The process of the real scheduler ended; run it by hand to see why."
            )
        told: dict[str, Any] = json.loads(line)
        self.version = str(told["vllm"])
        return told
