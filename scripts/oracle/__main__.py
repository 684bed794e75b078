"""Compare the simulator with vLLM's own scheduler: ``python -m oracle`` in `scripts` (``make oracle``).

    python -m oracle [--cases N] [--first N] [--kind K]... [--record]

Runs N random cases of each kind (2,000), prints how many agree, and for the first that does not the
smallest case that shows it. Exit code 1 when a case disagrees.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from live import prepare
from oracle.apart import told
from oracle.compare import Case, difference, shrunk
from oracle.digests import record
from oracle.engine import RealScheduler
from oracle.kinds import Maker, makers
from vramledger.frozen import frozen
from vramledger.simulate.oracle import answer_case

_CASES: Final = 2_000


@frozen
class Score:
    """How the cases of one kind came out; `worst` is the smallest disagreeing case, or None."""

    kind: str
    cases: int
    agree: int
    steps: int
    preemptions: int
    worst: Case | None


def score(kind: str, make: Maker, numbers: range, real: RealScheduler) -> Score:
    """Compare the cases of these numbers; after the first disagreement only count."""
    agree = steps = preemptions = 0
    worst: Case | None = None
    for number in numbers:
        case = make(number)
        real.ask(case)
        ours, theirs = answer_case(case), real.told()
        steps += len(theirs["steps"])
        preemptions += sum(len(step["preempted"]) for step in theirs["steps"])
        if not difference(ours, theirs):
            agree += 1
        elif worst is None:
            worst = shrunk(case, lambda one: bool(difference(answer_case(one), real.answer(one))))
    return Score(kind, len(numbers), agree, steps, preemptions, worst)


def tell(found: Score, real: RealScheduler, seconds: float) -> None:
    """One line for a kind, and the disagreement if there is one."""
    print(
        f"{found.kind:52} {found.agree:>6,} of {found.cases:,} agree   "
        f"{found.steps:>9,} steps {found.preemptions:>8,} preemptions {seconds:6.0f} s",
        flush=True,
    )
    if found.worst is not None:
        print("  smallest case:", json.dumps(found.worst))
        print("  differs in", difference(answer_case(found.worst), real.answer(found.worst)))


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__)
    parser.add_argument("--cases", type=int, default=_CASES, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--kind", type=int, action="append", help="its number; all by default")
    parser.add_argument("--record", action="store_true", help="only write digests for the tests")
    return parser.parse_args(given)


def main() -> int:
    """Run the comparison; 0 when every case agrees."""
    asked = arguments()
    if prepare.main() != 0:
        return 1
    numbers = range(asked.first, asked.first + asked.cases)
    missed = 0
    with RealScheduler(Path(prepare.engine_python())) as real:
        if asked.record:
            record(real)
            return 0
        kinds = makers()
        for kind, make in [kinds[index] for index in asked.kind or range(len(kinds))]:
            began = time.monotonic()
            found = score(kind, make, numbers, real)
            tell(found, real, time.monotonic() - began)
            missed += found.cases - found.agree
    print("every case agrees" if not missed else f"{missed:,} cases disagree")
    print(f"left out, because they cannot agree:\n{told()}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
