"""Draws of whole blocks in time, for figures and differences of figures whose error has no formula.

Entries in order of time are cut into blocks (`block_length`); each draw takes as many blocks as there are, with replacement.
How often each block is drawn is a row of weights, so that a mean is one product of matrices, and a percentile is read off the
weighted counts below each of `_GRID` levels. `plain_draws` puts the drawn entries together one by one, for any figure; it is
what the fast ways are held against.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Whole = np.ndarray[Any, np.dtype[np.int64]]

DRAWS: Final = 1000
_MOST_BLOCKS: Final = 1000
_GRID: Final = 2048  # levels that a percentile is found on


def mean_draws(values: "Floats", length: int, seed: int, draws: int = DRAWS) -> "Floats":
    """The mean of each draw, of finite values."""
    import numpy as np

    edges = _edges(len(values), length)
    sums, sizes = np.add.reduceat(values, edges[:-1]), np.diff(edges).astype(np.float64)
    weights = _weights(len(sizes), seed, draws)
    found: Floats = weights @ sums / (weights @ sizes)
    return found


def percentile_draws(
    values: "Floats", shares: Sequence[float], length: int, seed: int, draws: int = DRAWS
) -> "Floats":
    """Draws x shares: the least level that the share does not exceed; values may be infinite, but not NaN."""
    import numpy as np

    levels = np.unique(values)
    if len(levels) > _GRID:
        at = np.unique(np.concatenate([np.linspace(0, 1, _GRID), np.asarray(shares)]))
        levels = np.unique(np.quantile(values, at, method="inverted_cdf"))
    edges = _edges(len(values), length)
    block = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    place = np.searchsorted(levels, values)
    flat = np.bincount(block * len(levels) + place, minlength=(len(edges) - 1) * len(levels))
    table = flat.reshape(len(edges) - 1, len(levels)).astype(np.float64)
    below = np.cumsum(_weights(len(table), seed, draws) @ table, axis=1)
    found = [levels[(below >= share * below[:, -1:] - 1e-9).argmax(axis=1)] for share in shares]
    return np.stack(found, axis=1)


def plain_draws(
    values: "Floats",
    figure: "Callable[[Floats], float]",
    length: int,
    seed: int,
    draws: int = DRAWS,
) -> "Floats":
    """The figure of each draw."""
    import numpy as np

    edges = _edges(len(values), length)
    parts = np.split(values, edges[1:-1])
    weights = _weights(len(parts), seed, draws).astype(np.int64)
    return np.array(
        [
            figure(np.concatenate([np.tile(p, n) for p, n in zip(parts, row, strict=True) if n]))
            for row in weights
        ]
    )


def _edges(count: int, length: int) -> "Whole":
    """Where each block begins, and the end of the last."""
    import numpy as np

    blocks = max(1, min(count // max(length, 1), _MOST_BLOCKS))
    return np.linspace(0, count, blocks + 1).round().astype(np.int64)


def _weights(blocks: int, seed: int, draws: int) -> "Floats":
    """How often each block is drawn, a row a draw."""
    import numpy as np

    drawn = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1 / blocks), draws)
    found: Floats = drawn.astype(np.float64)
    return found
