"""Which identities of prefixes no two requests share."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vramledger.simulate.fast.load import Load

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Integers


def without_lone_tails(load: Load) -> Load:
    """The same load with prefixes cut behind the last identity that occurs twice.

    Blocks behind it are found by their own request only, as blocks without an identity are, so the results are the
    same; following them takes less. Every request that the engine may be given must be in the load.
    """
    lengths, starts = load.asked["prefix_length"].astype(np.int64), load.asked["prefix_start"]
    ends = np.cumsum(lengths)
    if not len(load.prefix) or (starts != ends - lengths).any() or ends[-1] != len(load.prefix):
        return load  # nothing to cut, or rows that share their identities
    places = np.flatnonzero(_occurrences(load, lengths) > 1)
    rows = np.searchsorted(ends, places, side="right")
    asked = load.asked.copy()
    asked["prefix_length"] = 0
    asked["prefix_length"][rows] = places - starts[rows] + 1  # of places in a row the last counts
    return replace(load, asked=asked)


def _occurrences(load: Load, lengths: "Integers") -> "Integers":
    """How often the identity at each place occurs in the load under the same salt."""
    names, salts = load.prefix, load.asked["salt"]
    if (salts == salts[0]).all() and names.min() >= 0 and names.max() < 8 * len(names):
        counts: Integers = np.bincount(names)[names]
        return counts
    pairs = np.stack([np.repeat(salts, lengths), names])
    _, inverse, found = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
    occurrences: Integers = found[inverse.reshape(-1)]
    return occurrences
