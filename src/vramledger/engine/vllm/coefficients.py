"""Calibrated terms: what the sources do not fix and observations do.

``coefficients.toml`` is written by ``make accuracy`` from published start-up logs. A term that no
observation covers borrows its neighbour's value with a doubled band and says so.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen

_FILE: Final = Path(__file__).with_name("coefficients.toml")
_SEEN: Final = "seen"


@frozen
class Coefficient:
    """A fitted value in GiB (or a ratio) with the band of its held-out residuals."""

    value: float
    low: float
    high: float
    observations: int
    models: int
    note: str = ""

    def figure(self, what: str, *, widen: float = 1.0) -> Figure:
        """The coefficient as a figure in GiB, never below zero."""
        below = (self.value - self.low) * widen
        above = (self.high - self.value) * widen
        seen = f"{self.observations} observations of {self.models} models"
        source = f"{what}: {seen}" + (f"; {self.note}" if self.note else "")
        floor = min(self.value, 0.0)
        return Figure(
            self.value,
            max(floor, self.value - below),
            self.value + above,
            Basis.CALIBRATED,
            source,
        )


def coefficient(term: str, key: str) -> Coefficient:
    """The coefficient of a term under a key such as ``own-trial/tp``.

    Raises:
        KeyError: the file has no such entry; the shipped file has one for every key the code asks.
    """
    return _table()[f"{term}/{key}"]


def all_coefficients() -> Mapping[str, Coefficient]:
    """Every term under ``term/key``, in the order of the file."""
    return MappingProxyType(_table())


def seen_on(family: str) -> frozenset[str]:
    """GPU architectures that the non-torch figures of a family were observed on."""
    return frozenset(_content().get(_SEEN, {}).get(family, ()))


@cache
def _table() -> dict[str, Coefficient]:
    return {
        f"{term}/{key}": Coefficient(**entry)
        for term, keys in _content().items()
        if term != _SEEN
        for key, entry in keys.items()
    }


@cache
def _content() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))
