"""The questions put to an engine: Ibis expressions that count and sum whole numbers, nothing else.

Every expression takes a table of the columns of `schema.COLUMNS` and gives a small table of integers,
so that DuckDB, Spark and PostgreSQL answer alike to the last digit. Floating point comes in at three
places, each exact or safe: `floor` of seconds, rounding to whole milliseconds (one product and one
sum of doubles, the same in IEEE 754 everywhere), and the logarithm behind a bin, see `octave_step`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from math import log
from typing import Any, Final

from vramledger.workload.profile.bins import EDGES, PER_OCTAVE

Expression = Any  # Ibis has no types for mypy

PACK: Final = 1 << 31  # two lengths in one whole number of 64 bits
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
    """The largest k with 2^(k/4) <= tokens, -1 for 0 tokens; `bin_of_step` makes a bin of it.

    A logarithm may err in its last digits, so a length that is a power of two could fall below its
    own step. The nudge lifts it: 1e-9 of a step moves the edge by less than 0.2 tokens at 2^30, and no
    edge has a length that close beneath it (a test tries all of them on every engine).
    """
    import ibis

    at_least = ibis.greatest(tokens.cast("float64"), ibis.literal(0.9, "float64"))
    step = at_least.ln() * ibis.literal(_PER_LN, "float64") + ibis.literal(_NUDGE, "float64")
    return step.floor().cast("int8")


def bin_of_step(step: int) -> int:
    """The bin of `bins.EDGES` that an `octave_step` lies in."""
    from vramledger.workload.profile.bins import bin_of

    if step < 0:
        return 0
    return bin_of(next(edge for edge in EDGES if edge**PER_OCTAVE >= 2**step))


def frequency(table: Expression, value: Expression) -> Expression:
    """value, requests: of the rows where the value is known."""
    each = table.select(value=value)
    known = each.filter(each.value.notnull())
    return known.group_by("value").agg(requests=known.count())


def totals(table: Expression) -> Expression:
    """Value (input + output), requests, steps (twice the token-steps), silent (those without output)."""
    both = _with_both(table)
    given, made = whole(both.input_tokens), both.output_tokens
    return both.group_by(value=given + made).agg(
        requests=both.count(),
        steps=whole((whole(made) * (given * 2 + made + 1)).sum()),
        silent=both.count(where=made == 0),
    )


def joint(table: Expression) -> Expression:
    """given, made (octave steps), requests, their tokens, and the longest packed by `PACK`."""
    both = _with_both(table)
    given, made = both.input_tokens, both.output_tokens
    return both.group_by(given=octave_step(given), made=octave_step(made)).agg(
        requests=both.count(),
        given_total=whole(given.sum()),
        made_total=whole(made.sum()),
        longest=((whole(given) + made) * PACK + given).max(),
    )


def _with_both(table: Expression) -> Expression:
    return table.filter(table.input_tokens.notnull() & table.output_tokens.notnull())


def second(table: Expression) -> Expression:
    """The whole second of arrival."""
    return whole(table.arrival_s.floor())


def seconds(table: Expression, held: Collection[str], long_input: int | None) -> Expression:
    """second, requests, tokens, long_tokens (of inputs above `long_input`) of seconds with arrivals."""
    import ibis

    timed = table.filter(table.arrival_s.notnull())
    tokens, long = ibis.literal(0, "int64"), ibis.literal(0, "int64")
    for name in ("input_tokens", "output_tokens"):
        if name in held:
            tokens += whole(timed[name].sum().fill_null(0))
    if long_input is not None:
        long = whole(timed.input_tokens.sum(where=timed.input_tokens > long_input).fill_null(0))
    return timed.group_by(second=second(timed)).agg(
        requests=timed.count(), tokens=tokens, long_tokens=long
    )


def labels(table: Expression, column: str) -> Expression:
    """label, requests."""
    known = table.filter(table[column].notnull())
    return known.group_by(label=known[column]).agg(requests=known.count())


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


def within(table: Expression, spans: Sequence[tuple[int, int]]) -> Expression:
    """The requests that arrive in any of the half-open spans of seconds."""
    import ibis

    return table.filter(
        ibis.or_(*((table.arrival_s >= start) & (table.arrival_s < end) for start, end in spans))
    )


def by_clock(table: Expression, offset_s: int, length_s: int) -> Expression:
    """The requests that arrive in the first `length_s` of a day, whose start is `offset_s` before 0."""
    of_day = (second(table) + offset_s % 86_400) % 86_400
    return table.filter(of_day < length_s)
