"""Rows of a foreign table that are no requests: conditions that every engine answers alike.

NaN is asked for by name: engines order it above all numbers, but statistics of Parquet files leave it out,
and by those an engine may take a comparison for answered.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload.schema import COLUMNS

Expression = Any  # Ibis has no types for mypy

_EXACT: Final = float(1 << 53)  # beyond it not every whole number is a float
_MOST_TIME: Final = 1e15  # of lengths of time, in any unit: as milliseconds they fit 64 bits
_MOST_MOMENT: Final = 9.2e18  # of moments, in any unit: they fit 64 bits
_SIGNED: Final = ("think_s",)  # clocks that disagree make it negative


@frozen
class Flaw:
    """Why a row is left out, and whether it is: null where the value is."""

    reason: str
    holds: Expression


def flaws(column: Expression, target: str) -> Sequence[Flaw]:
    """What can be wrong with the values of a numeric column, to be used as one of `schema.COLUMNS`."""
    value = column.cast("float64")
    return tuple(Flaw(f"{target} {said}", holds(value)) for said, holds in _conditions(target))


def whole(column: Expression) -> Expression:
    """A column as whole numbers of 64 bits; null where it has none, so that none is rounded."""
    import ibis

    value = column.cast("float64")
    return ibis.ifelse(_is_not_whole(value), ibis.null(), column).cast("int64")


def timed(column: Expression, target: str) -> Expression:
    """A column as times, in floats; null where it is beyond any clock.

    Engines may work out what follows of a row before they leave it out.
    """
    import ibis

    value = column.cast("float64")
    most = _MOST_MOMENT if target == "arrival_s" else _MOST_TIME
    return ibis.ifelse(_is_beyond(value, most), ibis.null(), value)


def first_flaw(found: Sequence[Flaw]) -> Expression:
    """The number of a row's first flaw, from 1; 0 where it has none."""
    import ibis

    if not found:
        return ibis.literal(0, "int16")
    cases = [(each.holds.fill_null(False), number) for number, each in enumerate(found, 1)]
    return ibis.cases(*cases, else_=0).cast("int16")


_Condition = tuple[str, Callable[[Expression], Expression]]


def _conditions(target: str) -> Sequence[_Condition]:
    if target == "arrival_s":
        return (_NO_MOMENT,)
    if COLUMNS[target][0] == "float64":
        return (_NO_TIME,) if target in _SIGNED else (_NO_TIME, _NEGATIVE)
    return (_NOT_WHOLE, _NEGATIVE)


def _is_not_whole(value: Expression) -> Expression:
    import ibis

    beyond = _is_beyond(value, _EXACT)
    within = ibis.ifelse(beyond, ibis.null(), value)  # engines floor to whole numbers of 64 bits
    return beyond | (within != within.floor()).fill_null(False)


def _is_beyond(value: Expression, most: float) -> Expression:
    return value.isnan() | (value > most) | (value < -most)


_NOT_WHOLE: Final[_Condition] = ("is not a whole number", _is_not_whole)
_NEGATIVE: Final[_Condition] = ("is negative", lambda value: value < 0)
_NO_TIME: Final[_Condition] = ("is beyond any clock", lambda value: _is_beyond(value, _MOST_TIME))
_NO_MOMENT: Final[_Condition] = (
    "is beyond any clock",
    lambda value: _is_beyond(value, _MOST_MOMENT),
)
