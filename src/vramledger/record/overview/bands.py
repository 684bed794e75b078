"""Percentiles of figures in groups of requests: by time of arrival, by length."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "worst": 1.0}
_A_DOUBLING: Final = 2  # bins of lengths


@frozen
class Bands:
    """Groups in order, those without a figure left out; arrays of one length.

    `group` is its number, `at` its middle; `values` has `SHARES`, each the least figure that this share of
    the group does not exceed, infinite where that falls among failures.
    """

    group: "Integers"
    at: "Floats"
    count: "Integers"
    failed: "Integers"
    values: "dict[str, Floats]"


def banded(groups: "Integers", figures: "Floats", middles: "Floats") -> Bands:
    """The bands of `figures` (NaN: none); `groups` are numbers of `middles`, -1 for none."""
    counted = ~np.isnan(figures) & (groups >= 0)
    groups, figures = groups[counted], figures[counted]
    order = np.lexsort((figures, groups))
    groups, figures = groups[order], figures[order]
    found, starts, count = np.unique(groups, return_index=True, return_counts=True)
    failed = np.bincount(groups[np.isinf(figures)], minlength=len(middles))[found]
    places = {
        name: starts + np.maximum(np.ceil(share * count - 1e-9).astype(np.int64) - 1, 0)
        for name, share in SHARES.items()
    }
    values = {name: figures[place] for name, place in places.items()}
    return Bands(found, middles[found], count, failed, values)


def by_time(due_s: "Floats", figures: "Floats", edges_s: "Floats") -> Bands:
    """Bands of requests that were due between each edge and the next."""
    groups = np.clip(np.searchsorted(edges_s, due_s, side="right") - 1, 0, len(edges_s) - 2)
    return banded(groups, figures, (edges_s[1:] + edges_s[:-1]) / 2)


def by_length(tokens: "Floats", figures: "Floats") -> Bands:
    """Bands of requests of like length: two bins to a doubling, `at` their geometric middles."""
    known = tokens >= 1
    groups = np.full(len(tokens), -1, np.int64)
    groups[known] = np.floor(np.log2(tokens[known]) * _A_DOUBLING).astype(np.int64)
    bins = np.arange(max(int(groups.max(initial=0)), 0) + 1)
    return banded(groups, figures, 2.0 ** ((bins + 0.5) / _A_DOUBLING))
