"""The error of one run's figure by itself: a bootstrap of blocks in time.

Requests near in time meet the same queue and so are not independent. The requests of a run, in the order in which they were
due, are cut into blocks of equal numbers, and whole blocks are drawn again with replacement; the standard deviation of the
figure over such draws is its error (E. Carlstein, "The use of subseries values for estimating the variance of a general
statistic from a stationary sequence", Annals of Statistics 14, 1986, 1171-1179; H. R. Kunsch, "The jackknife and the bootstrap
for general stationary observations", Annals of Statistics 17, 1989, 1217-1241). A block has about n^(1/3) requests, the
length at which the error of the error is least (P. Hall, J. L. Horowitz and B.-Y. Jing, "On blocking rules for the bootstrap
with dependent data", Biometrika 82, 1995, 561-574), and more where there would be over `_MOST_BLOCKS`.
"""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

DRAWS: Final = 400
FEWEST: Final = 8  # values, without which there are no blocks to draw
_MOST_BLOCKS: Final = 400
_GRID: Final = 2048  # levels that a percentile is found on


def block_count(count: int) -> int:
    """How many blocks so many values are cut into."""
    blocks: float = count ** (2 / 3)
    return min(max(round(blocks), 1), _MOST_BLOCKS)


def error_of_mean(values: "Floats", seed: int) -> float | None:
    """Standard error of the mean; None where there are too few values, or one is infinite."""
    import numpy as np

    told = values[~np.isnan(values)]
    if len(told) < FEWEST or not np.isfinite(told).all():
        return None
    edges = _edges(len(told))
    sums, sizes = np.add.reduceat(told, edges[:-1]), np.diff(edges).astype(float)
    weights = _weights(len(sizes), seed)
    return float((weights @ sums / (weights @ sizes)).std(ddof=1))


def error_of_percentile(values: "Floats", share: float, seed: int) -> float | None:
    """Standard error of the least value that the share does not exceed; None where there are too few, or draws reach failures."""
    import numpy as np

    told = values[~np.isnan(values)]
    if len(told) < FEWEST:
        return None
    levels = np.unique(told)
    if len(levels) > _GRID:
        shares = np.linspace(0, 1, _GRID)
        levels = np.unique(np.quantile(told, shares, method="inverted_cdf"))
    place = np.searchsorted(levels, told)
    edges = _edges(len(told))
    blocks = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    table = np.zeros((len(edges) - 1, len(levels)))
    np.add.at(table, (blocks, place), 1.0)
    below = np.cumsum(_weights(len(table), seed) @ table, axis=1)
    reached = below >= share * below[:, -1:] - 1e-9
    found = levels[reached.argmax(axis=1)]
    return float(found.std(ddof=1)) if np.isfinite(found).all() else None


def _edges(count: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Where each block begins, and the end of the last."""
    import numpy as np

    return np.linspace(0, count, block_count(count) + 1).round().astype(np.int64)


def _weights(blocks: int, seed: int) -> "Floats":
    """How often each block is drawn, a row a draw."""
    import numpy as np

    drawn = np.random.default_rng(seed).multinomial(blocks, np.full(blocks, 1 / blocks), DRAWS)
    found: Floats = drawn.astype(np.float64)
    return found
