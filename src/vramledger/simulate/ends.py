"""A simulation played again at the ends of the band of its step times.

The slow end is always played: a decision to sign uses the pessimistic end. The fast end is played where a line
fails as expected and the compiled simulator does it, and says only how far that is from certain.
"""

from dataclasses import replace

from vramledger.frozen import frozen
from vramledger.simulate.answers import Answers
from vramledger.simulate.engines import Progress
from vramledger.simulate.pace import Pace, Paces
from vramledger.simulate.run import Ready, Simulation, bench_of, played


@frozen
class Ends:
    """What the main run answers at either end; `fast` is None where it was not played."""

    paces: Paces
    slow: Answers
    fast: Answers | None


def with_ends(simulation: Simulation, progress: Progress) -> Simulation:
    """The simulation with its main run at the ends of the step times.

    Raises:
        As `run.simulate_case`.
    """
    answers = simulation.main.answers
    fails = bool(answers.lines) and answers.fails
    slow = _played_at(simulation, Pace.SLOW, progress)
    fast = _played_at(simulation, Pace.FAST, progress) if fails and answers.compiled else None
    return replace(simulation, ends=Ends(simulation.bench.paces, slow, fast))


def _played_at(simulation: Simulation, pace: Pace, progress: Progress) -> Answers:
    bench = simulation.bench
    question = replace(bench.question, pace=pace, trace=None)
    ready = Ready(question, bench.deployment, bench.pool)
    hits = simulation.own is not None
    return played(bench_of(ready, bench.offered), progress, hits=hits).answers
