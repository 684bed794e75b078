"""Sums over all requests: whole numbers of 64 bits, which only impossible lengths exceed."""

from typing import Any

from vramledger.errors import BadInput


def too_large() -> BadInput:
    """What is said where a sum does not fit."""
    return BadInput(
        "The lengths add up to more than whole numbers of 64 bits hold, which no real requests do; import "
        "the logs without the requests of impossible lengths, or give a view that leaves them out."
    )


def need_64_bits(numbers: Any) -> None:
    """Refuse whole numbers of 0 or more (an int64 array) whose sum is beyond 2^63.

    Raises:
        BadInput: it is; a float is exact enough to tell.
    """
    import numpy as np

    if float(numbers.sum(dtype=np.float64)) >= 2.0**63:
        raise too_large()
