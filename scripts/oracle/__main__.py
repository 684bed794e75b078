"""Compare the simulator with vLLM's own scheduler: ``python -m oracle`` in `scripts` (``make oracle``).

    python -m oracle [--cases N] [--first N] [--kind K]... [--only loop|fast] [--record]

Runs N random cases of each kind (2,000) through the plain scheduler and the compiled one, prints how many of each
agree with vLLM's, and for the first that does not the smallest case that shows it. Exit code 1 when a case
disagrees.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from live import prepare
from oracle.apart import told
from oracle.compare import Case, difference, shrunk
from oracle.digests import record
from oracle.engine import RealScheduler
from oracle.kinds import Maker, makers
from vramledger.frozen import frozen
from vramledger.simulate.oracle import RUNS, Run, answer_case

_CASES: Final = 2_000


@frozen
class Score:
    """How the cases of one kind came out.

    `agree` counts by engine, and `worst` has the smallest disagreeing case of those that disagree.
    """

    kind: str
    cases: int
    agree: dict[str, int]
    steps: int
    preemptions: int
    worst: dict[str, Case]

    @property
    def missed(self) -> int:
        """Disagreements of all engines."""
        return sum(self.cases - agree for agree in self.agree.values())


def score(
    kind: str, make: Maker, numbers: range, real: RealScheduler, engines: Sequence[str]
) -> Score:
    """Compare the cases of these numbers; after an engine's first disagreement only count."""
    agree, steps, preemptions = dict.fromkeys(engines, 0), 0, 0
    worst: dict[str, Case] = {}
    for number in numbers:
        case = make(number)
        real.ask(case)
        ours = {engine: answer_case(case, RUNS[engine]) for engine in engines}
        theirs = real.told()
        steps += len(theirs["steps"])
        preemptions += sum(len(step["preempted"]) for step in theirs["steps"])
        for engine in engines:
            if not difference(ours[engine], theirs):
                agree[engine] += 1
            elif engine not in worst:
                worst[engine] = shrunk(case, partial(differs_from, real, RUNS[engine]))
    return Score(kind, len(numbers), agree, steps, preemptions, worst)


def differs_from(real: RealScheduler, run_of: Callable[[Any], Run], case: Case) -> str:
    """Where one of our engines differs from the real one, or an empty text."""
    return difference(answer_case(case, run_of), real.answer(case))


def tell(found: Score, real: RealScheduler, seconds: float) -> None:
    """One line for a kind, and the disagreements if there are any."""
    agree = ", ".join(f"{engine[2:]} {count:>6,}" for engine, count in found.agree.items())
    print(
        f"{found.kind:40} {agree} of {found.cases:,} agree   "
        f"{found.steps:>9,} steps {found.preemptions:>8,} preemptions {seconds:6.0f} s",
        flush=True,
    )
    for engine, case in found.worst.items():
        print(f"  smallest case of {engine[2:]}:", json.dumps(case))
        print("  differs in", differs_from(real, RUNS[engine], case))


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__)
    parser.add_argument("--cases", type=int, default=_CASES, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--kind", type=int, action="append", help="its number; all by default")
    parser.add_argument(
        "--only", choices=[name[2:] for name in RUNS], help="one engine; both by default"
    )
    parser.add_argument("--record", action="store_true", help="only write digests for the tests")
    return parser.parse_args(given)


def main() -> int:
    """Run the comparison; 0 when every case agrees."""
    asked = arguments()
    if prepare.main() != 0:
        return 1
    numbers = range(asked.first, asked.first + asked.cases)
    engines = [f"--{asked.only}"] if asked.only else list(RUNS)
    missed = 0
    with RealScheduler(Path(prepare.engine_python())) as real:
        if asked.record:
            record(real)
            return 0
        kinds = makers()
        for kind, make in [kinds[index] for index in asked.kind or range(len(kinds))]:
            began = time.monotonic()
            found = score(kind, make, numbers, real, engines)
            tell(found, real, time.monotonic() - began)
            missed += found.missed
    print("every case agrees" if not missed else f"{missed:,} cases disagree")
    print(f"left out, because they cannot agree:\n{told()}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
