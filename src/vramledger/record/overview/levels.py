"""Levels that change at moments and hold between them, reduced to bins with mean, lowest and highest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@frozen
class Level:
    """`value[i]` holds from `at_s[i]` to `at_s[i + 1]`; 0 before the first, the last one for ever."""

    at_s: "Floats"
    value: "Floats"


@frozen
class Binned:
    """A level in bins of time: its mean over each, and the lowest and highest that it had there."""

    mean: "Floats"
    low: "Floats"
    high: "Floats"


def stepped(start_s: "Floats", end_s: "Floats", value: "Floats") -> Level:
    """The level of an engine's steps: each holds until the next begins, 0 while there is a pause."""
    following = np.append(start_s[1:], np.inf)
    pauses = end_s < following
    at = np.concatenate((start_s, end_s[pauses]))
    held = np.concatenate((value, np.zeros(int(pauses.sum()))))
    order = np.argsort(at, kind="stable")
    return Level(at[order], held[order])


def total(levels: Sequence[Level]) -> Level:
    """The sum of levels at every moment."""
    if len(levels) == 1:
        return levels[0]
    at = np.concatenate([level.at_s for level in levels])
    change = np.concatenate([np.diff(level.value, prepend=0.0) for level in levels])
    order = np.argsort(at, kind="stable")
    at, value = at[order], np.cumsum(change[order])
    last = np.append(at[1:] != at[:-1], True)  # of those at one moment
    return Level(at[last], value[last])


def binned(level: Level, edges_s: "Floats") -> Binned:
    """The level between each edge and the next."""
    at = np.append(edges_s[0] - 1.0, level.at_s)
    value = np.append(0.0, level.value)
    upto = np.append(0.0, np.cumsum(value[:-1] * np.diff(at)))
    inside = np.searchsorted(at, edges_s, side="right") - 1
    inside = np.maximum(inside, 0)
    integral = upto[inside] + value[inside] * (edges_s - at[inside])
    first = inside[:-1]
    after = np.maximum(np.searchsorted(at, edges_s[1:], side="left"), first + 1)
    spans = np.stack((first, after), axis=1).ravel()
    padded = np.append(value, value[-1])
    return Binned(
        np.diff(integral) / np.diff(edges_s),
        np.minimum.reduceat(padded, spans)[::2],
        np.maximum.reduceat(padded, spans)[::2],
    )


def envelope(parts: Sequence[Binned]) -> Binned:
    """The mean of several levels, with the lowest and highest of any of them."""
    return Binned(
        np.mean([part.mean for part in parts], axis=0),
        np.min([part.low for part in parts], axis=0),
        np.max([part.high for part in parts], axis=0),
    )
