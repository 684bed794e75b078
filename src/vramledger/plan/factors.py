"""The named factors that make people into requests in flight, with their ranges."""

from collections.abc import Mapping
from math import inf, isfinite
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.units import plain


@frozen
class Factor:
    """One assumption of the chain; `low` makes for less load, `high` for more."""

    name: str
    low: float
    expected: float
    high: float
    meaning: str
    least: float = 0.0
    most: float = inf


FACTORS: Final = (
    Factor(
        "active-share", 0.3, 0.5, 0.8, "share of the people who use it in the busy hour", 0.0, 1.0
    ),
    Factor(
        "requests-per-hour",
        10.0,
        20.0,
        40.0,
        "requests an active person sends in that hour",
        0.0,
        1e6,
    ),
    Factor(
        "peak-factor", 1.2, 1.5, 2.0, "busiest minutes of the hour over its average", 1.0, 100.0
    ),
    Factor(
        "tokens-per-second",
        40.0,
        25.0,
        15.0,
        "output tokens a request receives per second",
        0.01,
        1e6,
    ),
    Factor("first-token-seconds", 0.5, 1.0, 3.0, "time to the first token under load", 0.0, 3600.0),
)
_BY_NAME: Final = {factor.name: factor for factor in FACTORS}


def check_factor(name: str, value: float, where: str = "") -> None:
    """Refuse what is none of the factors or out of its range; `where` is the file and key.

    Raises:
        UnknownName: a factor that is none of ours.
        BadInput: a value out of range.
    """
    factor = _BY_NAME.get(name)
    if factor is None:
        raise UnknownName("factor", name, _BY_NAME, where)
    if not isfinite(value) or not factor.least <= value <= factor.most:
        said = f"{where} is" if where else f"The factor {name} is"
        raise BadInput(
            f"{said} {plain(value)}; it must be between {plain(factor.least)} and "
            f"{plain(factor.most)} ({factor.meaning})."
        )


def with_changes(changed: Mapping[str, float]) -> tuple[Factor, ...]:
    """All factors; a changed one has no band, because the user said so.

    Raises:
        UnknownName: a factor that is none of ours.
        BadInput: a value out of range.
    """
    for name, value in changed.items():
        check_factor(name, value)
    return tuple(_fixed(f, changed[f.name]) if f.name in changed else f for f in FACTORS)


def _fixed(f: Factor, value: float) -> Factor:
    return Factor(f.name, value, value, value, f.meaning, f.least, f.most)
