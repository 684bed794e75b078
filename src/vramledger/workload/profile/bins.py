"""The bins of lengths: fixed whole-number edges, four to an octave, the same for every workload."""

from bisect import bisect_right
from typing import Final

_OCTAVES: Final = 30  # up to 2^30 tokens, longer than any context
PER_OCTAVE: Final = 4


def _edges() -> tuple[int, ...]:
    """ceil(2^(k/4)) without repeats, from 1: computed in whole numbers, by fourth roots."""
    found = [0]
    for step in range(_OCTAVES * PER_OCTAVE + 1):
        power = 2**step  # the edge is the smallest n with n^4 >= 2^step
        edge = round(power**0.25) if step < 200 else 0
        while (edge - 1) ** PER_OCTAVE >= power:
            edge -= 1
        while edge**PER_OCTAVE < power:
            edge += 1
        if edge > found[-1]:
            found.append(edge)
    return tuple(found)


EDGES: Final = _edges()  # bin i holds EDGES[i] <= tokens < EDGES[i + 1]; bin 0 holds 0 alone


def bin_of(tokens: int) -> int:
    """The bin that a length falls into."""
    return bisect_right(EDGES, tokens) - 1


def longest_of(index: int) -> int:
    """The longest length that falls into a bin."""
    return EDGES[index + 1] - 1 if index + 1 < len(EDGES) else EDGES[index]
