"""Lengths at which a bin could be got wrong, and what every engine must make of them."""

from random import Random
from typing import Any

from vramledger.workload.profile.aggregates import bin_of_step, octave_step
from vramledger.workload.profile.bins import EDGES, bin_of

LENGTHS = sorted(
    {0, 1, 2**30}
    | {edge + step for edge in EDGES for step in (-1, 0, 1) if 0 <= edge + step <= 2**30}
    | {Random(1).randrange(2**30) for _ in range(500)}
    | set(range(3000))
)


def bins_of(table: Any, fetch: Any) -> dict[int, int]:
    """Length -> bin, as an engine computes it of a table with the column `tokens`."""
    found = fetch(table.select("tokens", step=octave_step(table.tokens)))
    rows = zip(found["tokens"].to_pylist(), found["step"].to_pylist(), strict=True)
    return {tokens: bin_of_step(step) for tokens, step in rows}


EXPECTED = {tokens: bin_of(tokens) for tokens in LENGTHS}
