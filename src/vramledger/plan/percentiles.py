"""Percentile names as people write them: ``p50``, ``p99.9``, ``min``, ``max``."""

import re
from typing import Final

from vramledger.errors import BadInput

PATTERN: Final = r"^(min|max|p(100|[0-9]{1,2}(\.[0-9]+)?))$"
_NAME: Final = re.compile(PATTERN)
_ENDS: Final = {"min": 0.0, "max": 1.0}


def share_of(name: str) -> float:
    """``p99.9`` -> 0.999, ``max`` -> 1.0.

    Raises:
        BadInput: the name is not a percentile.
    """
    if _NAME.match(name) is None:
        raise BadInput(f"{name!r} is not a percentile; write p50, p95, p99.9, min or max.")
    return _ENDS[name] if name in _ENDS else round(float(name[1:]) / 100, 9)


def name_of(share: float) -> str:
    """0.999 -> ``p99.9``."""
    return f"p{share * 100:g}"
