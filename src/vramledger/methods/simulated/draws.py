"""What of a play the seed decides; where it decides nothing, another play is the same play."""

from collections.abc import Iterator
from typing import Final

from vramledger.simulate.run import Bench

_TAIL: Final = "tail"  # the scenario whose places are drawn


def drawn(bench: Bench) -> tuple[str, ...]:
    """Each thing that is drawn, in words; empty where every seed gives the same.

    A router that begins among equal engines by the seed only numbers them otherwise, which is no draw.
    """
    return tuple(_drawn(bench))


def _drawn(bench: Bench) -> Iterator[str]:
    part, acceptance = bench.question.part, bench.question.acceptance
    if part.rate_scale != 1:
        yield "which sessions arrive and when"
    if part.scenario == _TAIL:
        yield "where the long requests stand"
    if bench.offered.drawn:
        yield "the answers that the workload lacks"
    if acceptance is not None and 0 < acceptance < 1:
        yield "which drafts are accepted"
