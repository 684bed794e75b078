"""Spans of steps, each from behind its first to its last step."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def spans_over(first: "Array", last: "Array", steps: int) -> "Array":
    """For each of so many steps how many of the spans hold it, the first step of a span not counted."""
    edges = np.bincount(first + 1, minlength=steps + 2) - np.bincount(last + 1, minlength=steps + 2)
    found: Array = np.cumsum(edges)[:steps].astype(np.float64)
    return found
