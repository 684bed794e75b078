"""Which identities of prefixes no two requests share."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.simulate.fast.load import Load

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Integers

    Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_DENSE: Final = 32  # numbers up to so many times their count are counted in a table


def without_lone_tails(load: Load) -> Load:
    """The same load with prefixes cut behind the last identity that occurs twice.

    Blocks behind it are found by their own request only, as blocks without an identity are, so the results are the
    same; following them takes less. Every request that the engine may be given must be in the load.
    """
    lengths, starts = load.asked["prefix_length"].astype(np.int64), load.asked["prefix_start"]
    ends = np.cumsum(lengths)
    if not len(load.prefix) or (starts != ends - lengths).any() or ends[-1] != len(load.prefix):
        return load  # nothing to cut, or rows that share their identities
    places = np.flatnonzero(_occur_twice(load, lengths))
    rows = np.searchsorted(ends, places, side="right")
    asked = load.asked.copy()
    asked["prefix_length"] = 0
    asked["prefix_length"][rows] = places - starts[rows] + 1  # of places in a row the last counts
    return replace(load, asked=asked)


def _occur_twice(load: Load, lengths: "Integers") -> "Flags":
    """Whether the identity at each place occurs elsewhere in the load under the same salt."""
    names, salts = load.prefix, load.asked["salt"]
    least = int(names.min())
    if (salts == salts[0]).all() and int(names.max()) - least < _DENSE * len(names):
        counted: Flags = np.bincount(names - least)[names - least] > 1
        return counted
    of_each = np.repeat(salts, lengths)
    order = np.lexsort((names, of_each))
    alike = (np.diff(names[order]) == 0) & (np.diff(of_each[order]) == 0)
    twice = np.zeros(len(names), np.bool_)
    twice[order[1:]] |= alike
    twice[order[:-1]] |= alike
    return twice
