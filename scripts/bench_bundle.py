"""Seconds and memory of sealing, verifying and reporting an hour of records at 50 requests a second, each as a whole process.

The same files hashed by nothing but SHA-256 are timed beside them, in turn, so that a busy machine slows all alike; medians count.
Exit 1 when one takes more than 30 s or 1 GiB, or the report's page is larger than 2 MB.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recorded_hour import Recorded, recorded

REQUESTS, PER_S = 180_000, 50.0
ROUNDS = 3
MOST_GIB = 1.0
MOST_S = 30.0
MOST_PAGE = 2_000_000  # bytes
VRAM = str(Path(sys.executable).parent / "vram")

_MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
sys.stderr.write(done.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20)
sys.exit(done.returncode)
"""
_HASHED = """
import hashlib, sys
from pathlib import Path
for path in Path(sys.argv[1]).rglob("*"):
    if path.is_file():
        hashlib.sha256(path.read_bytes()).hexdigest()
"""


def measured(*words: str) -> tuple[float, float]:
    """Seconds and GiB of one process.

    Raises:
        SystemExit: it failed, so its time says nothing.
    """
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *words], check=False, capture_output=True, text=True
    )
    taken = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed: {done.stderr.strip()}")
    return taken, float(done.stdout)


def rounds(made: Recorded, folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Every question once a round."""
    key = folder / "key"
    measured(VRAM, "verify", "--new-key", str(key))
    found: dict[str, list[tuple[float, float]]] = {}
    for turn in range(ROUNDS):
        out = folder / f"{turn}.zip"
        seal = (VRAM, "verify", "--seal", str(made.run), "-o", str(out), "--key", str(key))
        for name, words in (
            ("SHA-256 of the run alone", (sys.executable, "-c", _HASHED, str(made.run))),
            ("vram verify --seal", seal),
            ("vram verify", (VRAM, "verify", str(out), "--key", f"{key}.pub", "--json")),
            ("vram report", (VRAM, "report", str(made.run), "-o", str(folder / "report.html"))),
        ):
            found.setdefault(name, []).append(measured(*words))
        out.unlink()
    return found


def main() -> int:
    """Print the table; the exit code."""
    with tempfile.TemporaryDirectory(prefix="vram-bench-") as place:
        made = recorded(Path(place), REQUESTS, PER_S)
        size = sum(path.stat().st_size for path in made.run.iterdir())
        found = rounds(made, Path(place))
        page = (Path(place) / "report.html").stat().st_size
    print(f"{REQUESTS:,} requests of an hour, {size / 2**20:.0f} MiB, medians of {ROUNDS}")
    fine = page <= MOST_PAGE
    print(f"the report's page is {page / 1000:,.0f} kB, limit {MOST_PAGE / 1000:,.0f} kB")
    for name, each in found.items():
        seconds, gib = (statistics.median(column) for column in zip(*each, strict=True))
        kept = seconds <= MOST_S and gib <= MOST_GIB
        verdict = "limit" if kept else "OVER the limit"
        print(
            f"{name:<26} {seconds:6.1f} s {gib:6.2f} GiB, {verdict} {MOST_S:g} s, {MOST_GIB:g} GiB"
        )
        fine &= kept
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
