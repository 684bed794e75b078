"""Seeded draws: independent streams of one seed, so that each use has its own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def generator(seed: int, *stream: int) -> "np.random.Generator":
    """The generator of a stream; `seed` and the numbers of the stream are 0 or more."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=stream)))
