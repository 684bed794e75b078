"""``python scripts/ground_truth/score.py [--seeds 0:200] [--causes a,b]``: how often the diagnosis names the cause that is there.

Cases of even seeds are those that thresholds were set on, odd ones were only looked at in the end.
"""

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from ground_truth.cases import CASES, made
from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.diagnosis import Judged, judged_run
from vramledger.record.run import read_run


def diagnosed(cause: str, seed: int, folder: Path) -> Judged:
    """A case of that cause and seed, made and diagnosed."""
    return judged_run(read_run(made(cause, seed, folder)), Stated())


def main() -> None:
    """Print each case that is named wrongly, and a table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--seeds", default="0:4:2")
    asked.add_argument("--causes", default=",".join(CASES))
    asked.add_argument("--show", action="store_true")
    asked.add_argument("--keep", type=Path)
    given = asked.parse_args()
    seeds = range(*map(int, given.seeds.split(":")))
    right: Counter[str] = Counter()
    for cause in given.causes.split(","):
        for seed in seeds:
            place = Path(tempfile.mkdtemp())
            found = diagnosed(cause, seed, place / "run")
            said = found.findings[0].cause
            right[cause] += said == cause
            if said != cause or given.show:
                print(
                    f"{cause} {seed}: {said}",
                    *(f"{each.cause.name} {each.score:.2f}" for each in found.hypotheses[:4]),
                    sep="  ",
                )
                for each in found.hypotheses:
                    if each.cause.name in (cause, said):
                        for sign in each.signs:
                            print(
                                f"      {each.cause.name:18s} {sign.strength if sign.strength is None else round(sign.strength, 2)} {sign.text}"
                            )
            if given.keep and said != cause:
                shutil.move(place / "run", given.keep / f"{cause}-{seed}")
            shutil.rmtree(place)
        print(f"== {cause}: {right[cause]} of {len(seeds)}", flush=True)
    print(f"all: {sum(right.values())} of {len(seeds) * len(given.causes.split(','))}")


if __name__ == "__main__":
    main()
