"""What is known of asking one engine."""

from collections.abc import Callable
from math import isfinite
from typing import Any

from vramledger.frozen import frozen
from vramledger.trial.server.asking import Asker
from vramledger.trial.server.facts import Seen


@frozen
class EngineReader:
    """One engine's row.

    `owners` are what it writes as `owned_by` into /v1/models; `signs` are paths that only it answers with a JSON
    object that has one of the keys; `resets` are the paths that empty its prefix cache when posted to.
    """

    engine: str
    owners: tuple[str, ...]
    read: Callable[[Asker], tuple[Seen, ...]]
    metrics: tuple[str, ...] = ("/metrics",)
    signs: tuple[tuple[str, str], ...] = ()
    resets: tuple[str, ...] = ()
    reset_hint: str = ""


def text(value: Any) -> str | None:
    """A value that should be a text, None where it is none or empty."""
    return value if isinstance(value, str) and value else None


def whole(value: Any) -> int | None:
    """A value that should be a count, None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return int(value) if value == int(value) and value >= 0 else None
