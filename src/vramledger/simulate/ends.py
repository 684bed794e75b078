"""A simulation played again at the ends of the band of its step times.

The slow end is always played: a decision to sign uses the pessimistic end, of the step times and of TTFT's own band
(`ttft_band`). The fast end is played where a line
fails as expected and the compiled simulator does it, and says only how far that is from certain.
"""

from dataclasses import replace

from vramledger.frozen import frozen
from vramledger.simulate.answers import Answers
from vramledger.simulate.engines import Progress
from vramledger.simulate.pace import Pace, Paces
from vramledger.simulate.run import Played, Ready, Simulation, bench_of, played


@frozen
class Ends:
    """What the main run answers at either end; `fast` is None where it was not played.

    `without_hits` is the slow end of the run without prefix hits, where the main one has some and it was asked for.
    """

    paces: Paces
    slow: Answers
    fast: Answers | None
    without_hits: Answers | None = None

    @property
    def of_no_hits(self) -> "Ends | None":
        """Those of the run without prefix hits beside a main one with them."""
        if self.without_hits is None:
            return None
        return Ends(self.paces, self.without_hits, None)


def with_ends(
    simulation: Simulation, progress: Progress, *, without_hits: bool = False
) -> Simulation:
    """The simulation with its main run at the ends of the step times; the one `without_hits` at the slow end too.

    Raises:
        As `run.simulate_case`.
    """
    answers = simulation.main.answers
    fails = bool(answers.lines) and answers.fails
    main, hits = simulation.main, simulation.own is not None
    slow = played_at(simulation, Pace.SLOW, progress, main, hits=hits).answers
    fast = beneath = None
    if fails and answers.compiled:
        fast = played_at(simulation, Pace.FAST, progress, main, hits=hits).answers
    if hits and without_hits:
        without = played_at(simulation, Pace.SLOW, progress, simulation.no_hits, hits=False)
        beneath = without.answers
    return replace(simulation, ends=Ends(simulation.bench.paces, slow, fast, beneath))


def played_at(
    simulation: Simulation, pace: Pace, progress: Progress, expected: Played, *, hits: bool
) -> Played:
    """A run of the simulation at an end of the step times; `expected` is the same run at the expected ones.

    Raises:
        As `run.simulate_case`.
    """
    bench = simulation.bench
    question = replace(bench.question, pace=pace, trace=None)
    ready = Ready(question, bench.deployment, bench.pool)
    at_pace = bench_of(ready, bench.offered)
    return played(at_pace, progress, hits=hits, beside=expected.figures)
