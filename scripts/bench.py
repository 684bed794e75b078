"""Start-up times as multiples of ``python -c pass``, measured side by side, and sizing in seconds.

Every round runs all start-up commands once in turn, so that a busy machine slows all of them alike;
the ratio of medians is what counts. Exit 1 when a command with a limit is over it.
"""

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

VRAM = str(Path(sys.executable).parent / "vram")
EMPTY = (sys.executable, "-c", "pass")


@dataclass(frozen=True, slots=True)
class Case:
    """A command, how often it runs, and the most it may cost in empty Python processes."""

    name: str
    command: tuple[str, ...]
    rounds: int
    limit: float | None = None


CASES = (
    Case("python -c pass", EMPTY, 25),
    Case("vram --help", (VRAM, "--help"), 25, 8.0),
    Case(
        "vram ledger LAUNCH --json",
        (
            VRAM,
            "ledger",
            "vllm serve Qwen/Qwen2.5-72B-Instruct -tp 4 --max-model-len 32768",
            "--gpu",
            "H100-80GB-SXM",
            "--json",
        ),
        25,
        14.0,
    ),
    Case("vram inspect MODEL --json", (VRAM, "inspect", "Qwen/Qwen2.5-72B-Instruct", "--json"), 9),
    Case(
        "vram size, whole catalogue",
        (VRAM, "size", "Qwen/Qwen3-32B", "--users", "60",
         "--profile", "chat-with-documents", "--json"),
        3,
    ),
)  # fmt: skip


def seconds(command: tuple[str, ...]) -> float:
    """Wall time of the whole process.

    Raises:
        SystemExit: the command failed, so its time says nothing.
    """
    start = time.perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    taken = time.perf_counter() - start
    if done.returncode not in (0, 1):  # 1 is an answer: it does not hold
        sys.exit(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return taken


def medians(cases: tuple[Case, ...]) -> dict[str, float]:
    """Median seconds by name; the first run of each warms the disk and does not count."""
    times: dict[str, list[float]] = {case.name: [] for case in cases}
    for case in cases:
        seconds(case.command)
    for turn in range(max(case.rounds for case in cases)):
        for case in cases:
            if turn < case.rounds:
                times[case.name].append(seconds(case.command))
    return {name: statistics.median(taken) for name, taken in times.items()}


def main() -> int:
    found = medians(CASES)
    base = found[CASES[0].name]
    print(f"Median of whole processes; load average {os.getloadavg()[0]:.1f}.")
    over = False
    for case in CASES:
        median = found[case.name]
        ratio = median / base
        verdict = "" if case.limit is None else f"limit {case.limit:g}x"
        if case.limit is not None and ratio > case.limit:
            verdict, over = f"OVER the {verdict}", True
        print(f"{case.name:28} {median:8.3f} s {ratio:8.2f}x  {verdict}".rstrip())
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
