"""The questions put to an engine: Ibis expressions that count and sum whole numbers, nothing else.

Every expression takes a table of the columns of `schema.COLUMNS` and gives a small table of integers,
so that DuckDB, Spark and PostgreSQL answer alike to the last digit. Floating point comes in at three
places, each exact or safe: `floor` of seconds, rounding to whole milliseconds (one product and one
sum of doubles, the same in IEEE 754 everywhere), and the logarithm behind a bin, see `octave_step`.
"""

from collections.abc import Callable, Collection, Mapping
from math import log
from typing import Any, Final

from vramledger.workload.profile.bins import EDGES, PER_OCTAVE, bin_of

Expression = Any  # Ibis has no types for mypy

_PER_LN: Final = PER_OCTAVE / log(2)
_NUDGE: Final = (
    1e-9  # far above the error of a logarithm, far below the distance to the next length
)


def whole(value: Expression) -> Expression:
    """As a whole number of 64 bits, whatever an engine makes of its sums."""
    return value.cast("int64")


def milliseconds(seconds: Expression) -> Expression:
    """Seconds as whole milliseconds, halves up."""
    import ibis

    return whole((seconds * ibis.literal(1000.0, "float64") + ibis.literal(0.5, "float64")).floor())


def octave_step(tokens: Expression) -> Expression:
    """The largest k with 2^(k/4) <= tokens, -1 for 0 tokens, null for null; see `bin_of_step`.

    A logarithm may err in its last digits, so a length that is a power of two could fall below its
    own step. The nudge lifts it: 1e-9 of a step moves the edge by less than 0.2 tokens at 2^30, and no
    edge has a length that close beneath it (a test tries all of them on every engine).
    """
    import ibis

    tokens = tokens.cast("float64")
    at_least = ibis.ifelse(tokens < 1, ibis.literal(0.9, "float64"), tokens)
    step = at_least.ln() * ibis.literal(_PER_LN, "float64") + ibis.literal(_NUDGE, "float64")
    return step.floor().cast("int8")


def bin_of_step(step: int) -> int:
    """The bin of `bins.EDGES` that an `octave_step` lies in; steps beyond the last edge are in the last."""
    if step < 0:
        return 0
    return bin_of(next((edge for edge in EDGES if edge**PER_OCTAVE >= 2**step), EDGES[-1]))


def frequency(table: Expression, value: Expression) -> Expression:
    """Value, requests: of the rows where the value is known."""
    each = table.select(value=value)
    known = each.filter(each.value.notnull())
    return known.group_by("value").agg(requests=known.count())


def second(table: Expression) -> Expression:
    """The whole second of arrival."""
    return whole(table.arrival_s.floor())


def labels(table: Expression, column: str) -> Expression:
    """Label, requests."""
    known = table.filter(table[column].notnull())
    return known.group_by(label=known[column]).agg(requests=known.count())


def durations(table: Expression) -> Expression:
    """One row: requests with a duration, and the sum of those in milliseconds."""
    return table.aggregate(
        requests=table.duration_s.count(),
        total_ms=whole(milliseconds(table.duration_s).sum().fill_null(0)),
    )


def facts(table: Expression, held: Collection[str]) -> Expression:
    """One row: requests, and what one scan tells of the columns that hold anything."""
    asked = {"requests": table.count()}
    for column, of in _FACTS.items():
        if column in held:
            asked |= of(table)
    return table.aggregate(**asked)


_FACTS: Final[Mapping[str, Callable[[Expression], dict[str, Expression]]]] = {
    "arrival_s": lambda t: {"first_s": t.arrival_s.min(), "last_s": t.arrival_s.max()},
    "retry_of": lambda t: {"retries": t.retry_of.count()},
    "cancel_after_s": lambda t: {"cancellations": t.cancel_after_s.count()},
    "tenant": lambda t: {"tenants": t.tenant.nunique()},
    "images": lambda t: {"images": whole(t.images.sum())},
    "audio_s": lambda t: {"audio_ms": whole(milliseconds(t.audio_s).sum())},
    "cached_tokens": lambda t: {
        "cached": whole(t.cached_tokens.sum()),
        "cached_of": whole(t.input_tokens.sum(where=t.cached_tokens.notnull())),
    },
}
