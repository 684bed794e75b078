"""Seconds and memory of sealing, verifying and reporting an hour of records at 50 requests a second, each as a whole process.

The same files hashed by nothing but SHA-256 are timed beside them, in turn, so that a busy machine slows all alike; medians count.
Exit 1 when one takes more than 30 s of one core or 1 GiB, or the report's page is larger than 2 MB; the seconds that passed, which others on the
machine lengthen, stand beside them.
"""

import sys
import tempfile
from pathlib import Path

from recorded_hour import Recorded, recorded
from whole_process import Cost, cost_of, kept

REQUESTS, PER_S = 180_000, 50.0
ROUNDS = 3
MOST_GIB = 1.0
MOST_CORE_S = 30.0
MOST_PAGE = 2_000_000  # bytes
VRAM = str(Path(sys.executable).parent / "vram")

_HASHED = """
import hashlib, sys
from pathlib import Path
for path in Path(sys.argv[1]).rglob("*"):
    if path.is_file():
        hashlib.sha256(path.read_bytes()).hexdigest()
"""


def rounds(made: Recorded, folder: Path) -> dict[str, list[Cost]]:
    """Every question once a round."""
    key = folder / "key"
    cost_of(VRAM, "verify", "--new-key", str(key))
    found: dict[str, list[Cost]] = {}
    for turn in range(ROUNDS):
        out = folder / f"{turn}.zip"
        seal = (VRAM, "verify", "--seal", str(made.run), "-o", str(out), "--key", str(key))
        for name, words in (
            ("SHA-256 of the run alone", (sys.executable, "-c", _HASHED, str(made.run))),
            ("vram verify --seal", seal),
            ("vram verify", (VRAM, "verify", str(out), "--key", f"{key}.pub", "--json")),
            ("vram report", (VRAM, "report", str(made.run), "-o", str(folder / "report.html"))),
        ):
            found.setdefault(name, []).append(cost_of(*words))
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
    return 0 if kept(found, MOST_CORE_S, MOST_GIB) and fine else 1


if __name__ == "__main__":
    sys.exit(main())
