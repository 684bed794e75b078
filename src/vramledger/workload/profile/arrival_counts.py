"""What arrives when: a table of steps of 5 s, and single seconds only where they decide.

A log of weeks has millions of seconds; its scenarios begin and end at one of them. A window of 900 s
that starts in step w weighs no more than the 181 steps from w on. So the likeliest windows are
looked at second by second first, and then all others that may be as heavy as what was found.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.errors import BadInput
from vramledger.workload.profile.aggregates import Expression, second, whole
from vramledger.workload.scenarios import LONG_BURST_S, PEAK_S, Seconds

if TYPE_CHECKING:
    import numpy as np

    Integers = np.ndarray[Any, np.dtype[np.int64]]

Steps: TypeAlias = frozenset[int]  # numbers of steps from second 0
Span: TypeAlias = tuple[int, int]  # half-open, of seconds

MOST_YEARS: Final = 5
YEAR_S: Final = 31_557_600
STEP_S: Final = 5
_FEW: Final = 24


def refuse_long(last_s: float) -> None:
    """Refuse logs of more than `MOST_YEARS`: arrays hold a number for each step of their time.

    Raises:
        BadInput: a moment that stands for "no time" is taken for one, as far as anybody can tell.
    """
    years = last_s / YEAR_S
    if years > MOST_YEARS:
        raise BadInput(
            f"The first and the last arrival are {years:,.0f} years apart, and a log of more than "
            f"{MOST_YEARS} is not profiled; leave out the requests whose time is wrong (vram workload "
            "slice --from or --to, or a view of the table)."
        )


def by_step(
    table: Expression, held: Collection[str], long_input: int | None, step_s: int
) -> Expression:
    """Steps with arrivals: second (the first of a step), requests, tokens, long_tokens.

    Long tokens are those of inputs above `long_input`; none where that is None.
    """
    import ibis

    timed = table.filter(table.arrival_s.notnull())
    zero = ibis.literal(0, "int64")
    names = [name for name in ("input_tokens", "output_tokens") if name in held]
    tokens = [whole(timed[name].sum().fill_null(0)) for name in names]
    long = zero
    if long_input is not None:
        given = timed.input_tokens
        long = whole(ibis.ifelse(given > long_input, given, 0).sum().fill_null(0))
    found = timed.group_by(step=second(timed) // step_s).agg(
        requests=timed.count(), tokens=sum(tokens, zero), long_tokens=long
    )
    return found.select("requests", "tokens", "long_tokens", second=whole(found.step) * step_s)


def second_statistics(table: Expression) -> Expression:
    """One row: the squares of the requests of every second, added up, the most, and the seconds with any."""
    timed = table.filter(table.arrival_s.notnull())
    each = timed.group_by(second=second(timed)).agg(requests=timed.count())
    return each.aggregate(
        squares=whole((each.requests * each.requests).sum()),
        most=each.requests.max(),
        busy=each.count(),
    )


def undecided(steps: Seconds, best_of: Seconds, looked_at: Steps) -> Steps:
    """The numbers of the steps that must still be looked at second by second.

    The first time, those of the likeliest windows; once these are known, all that may hold a heavier.

    Args:
        steps: of `STEP_S` seconds, ascending; their last is that of the last arrival.
        best_of: what is known of single seconds, and steps elsewhere.
        looked_at: the steps that are known second by second.
    """
    last = int(steps.second[-1]) // STEP_S
    look = {last}
    tokens = "tokens" if steps.tokens.any() else "requests"
    for length_s, name in ((PEAK_S, tokens), (LONG_BURST_S, "long_tokens")):
        weights = getattr(steps, name)
        reach = _reach(steps.second // STEP_S, weights, last + 1, length_s // STEP_S)
        best = _heaviest(best_of.second, getattr(best_of, name), length_s, looked_at)
        starts = _above(reach, best) if looked_at else [int(reach.argmax())]
        ends = (start + length_s // STEP_S for start in starts)
        look |= {*starts, *(end for end in ends if end <= last)}
        look |= {max(0, last - length_s // STEP_S), max(0, last - length_s // STEP_S + 1)}
    return frozenset(look - looked_at)


def _above(reach: "Integers", best: int) -> list[int]:
    import numpy as np

    return [int(place) for place in np.flatnonzero(reach >= best)] if best else []


def _reach(places: "Integers", weights: "Integers", number: int, length: int) -> "Integers":
    """What `length` + 1 steps weigh together from each step on: no window beginning in it is heavier."""
    import numpy as np

    each = np.zeros(number, np.int64)
    each[places] = weights
    upto = np.concatenate(([0], np.cumsum(each)))
    first = np.arange(number)
    found: Integers = upto[np.minimum(first + length + 1, number)] - upto[first]
    return found


def _heaviest(second: "Integers", weights: "Integers", length_s: int, looked_at: Steps) -> int:
    """The weight of the heaviest window that is known exactly.

    Those are the windows of whole steps, and those that begin and end in steps looked at.
    """
    import numpy as np

    upto = np.concatenate(([0], np.cumsum(weights)))
    held = upto[np.searchsorted(second, second + length_s)] - upto[:-1]
    ends = (second + length_s) // STEP_S
    known = np.isin(ends, list(looked_at)) | (ends > second[-1] // STEP_S)
    return int(held[(second % STEP_S == 0) | known].max(initial=0))


def grouped(spans: Sequence[Span]) -> list[Sequence[Span]]:
    """Spans to filter by together: a few one by one, since an engine finds one without reading all."""
    return [[each] for each in spans] if len(spans) <= _FEW else [spans]


def spans_of(steps: Steps) -> list[Span]:
    """The half-open spans of seconds that these steps cover; neighbours become one."""
    spans: list[Span] = []
    for step in sorted(steps):
        start = step * STEP_S
        if spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], start + STEP_S)
        else:
            spans.append((start, start + STEP_S))
    return spans


def in_spans(table: Expression, spans: Sequence[Span]) -> Expression:
    """The requests that arrive in any of the half-open spans of seconds."""
    import ibis

    each = [(table.arrival_s >= start) & (table.arrival_s < end) for start, end in spans]
    return table.filter(ibis.or_(*each))


def spliced(steps: Seconds, close: Seconds, spans: Sequence[Span]) -> Seconds:
    """The seconds within the spans, and beyond them the steps, each at its first second."""
    import numpy as np

    edges = np.array(spans, np.int64).ravel()
    coarse = np.searchsorted(edges, steps.second, side="right") % 2 == 0
    order = np.argsort(np.concatenate([steps.second[coarse], close.second]), kind="stable")
    parts = {
        name: np.concatenate([getattr(steps, name)[coarse], getattr(close, name)])
        for name in ("second", "requests", "tokens", "long_tokens")
    }
    return Seconds(**{name: part[order] for name, part in parts.items()})
