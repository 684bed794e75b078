"""What a command costs as a whole process: seconds, seconds of a core, and the most memory it held."""

import statistics
import subprocess
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

_MEASURED: Final = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
sys.stderr.write(done.stderr)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)
sys.exit(done.returncode)
"""


@dataclass(frozen=True)
class Cost:
    """`core_s` are seconds of one core: what is left of a duration on a machine that does nothing else."""

    seconds: float
    core_s: float
    gib: float


def cost_of(*words: str, allowed: Collection[int] = (0,)) -> Cost:
    """Of one process.

    Raises:
        SystemExit: it ended with another exit code than those, so its cost says nothing.
    """
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *words], check=False, capture_output=True, text=True
    )
    taken = time.perf_counter() - start
    if done.returncode not in allowed:
        sys.exit(f"{' '.join(words)} failed: {done.stderr.strip()}")
    core_s, gib = map(float, done.stdout.split())
    return Cost(taken, core_s, gib)


def kept(costs: dict[str, list[Cost]], most_core_s: float, most_gib: float) -> bool:
    """Print a line of medians for each, and whether all keep the limits."""
    fine = True
    for name, each in costs.items():
        seconds, core_s, gib = (
            statistics.median(getattr(cost, key) for cost in each)
            for key in ("seconds", "core_s", "gib")
        )
        within = core_s <= most_core_s and gib <= most_gib
        said = "limit" if within else "OVER the limit"
        print(
            f"{name:<26} {seconds:6.1f} s, {core_s:5.1f} s of a core, {gib:5.2f} GiB, {said} {most_core_s:g} s of a core, "
            f"{most_gib:g} GiB"
        )
        fine &= within
    return fine
