"""Start-up times as multiples of ``python -c pass``, measured side by side.

Every round runs all commands once in turn, so that a busy machine slows all of them alike; the
ratio of medians is what counts. Exit 1 when a command is over its limit.
"""

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 15
BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Case:
    """A command and the most it may cost, as a multiple of an empty Python process."""

    name: str
    command: tuple[str, ...]
    limit: float | None


CASES = (
    Case("python -c pass", (sys.executable, "-c", "pass"), None),
    Case("vram --help", (str(BIN / "vram"), "--help"), 8.0),
    Case(
        "vram ledger ... --json",
        (
            str(BIN / "vram"),
            "ledger",
            "vllm serve Qwen/Qwen2.5-72B-Instruct -tp 4 --max-model-len 32768",
            "--gpu",
            "H100-80GB-SXM",
            "--json",
        ),
        14.0,
    ),
    Case(
        "vram size (whole catalogue)",
        (str(BIN / "vram"), "size", "Qwen/Qwen3-32B", "--users", "60",
         "--profile", "chat-with-documents", "--json"),
        None,
    ),
)  # fmt: skip


def seconds(command: tuple[str, ...]) -> float:
    """Wall time of the whole process."""
    start = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    times: dict[str, list[float]] = {case.name: [] for case in CASES}
    for _ in range(ROUNDS):
        for case in CASES:
            times[case.name].append(seconds(case.command))
    base = statistics.median(times[CASES[0].name])
    print(f"load average {os.getloadavg()[0]:.1f}, {ROUNDS} rounds, median of whole processes")
    over = 0
    for case in CASES:
        median = statistics.median(times[case.name])
        ratio = median / base
        verdict = "" if case.limit is None else f"limit {case.limit:g}x"
        if case.limit is not None and ratio > case.limit:
            verdict += "  OVER"
            over += 1
        print(f"{case.name:30} {median * 1000:8.1f} ms  {ratio:6.2f}x  {verdict}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
