"""What arrives when: a table of tens of seconds, and single seconds only where they decide.

A log of weeks has millions of seconds; its scenarios begin and end at one of them. The heaviest
window of 900 s starts in the ten seconds w only if the 91 tens from w on together weigh at least as
much as the heaviest 90 tens: only there, and where such windows end, are seconds looked at one by one.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from vramledger.workload.profile.aggregates import Expression, second, whole
from vramledger.workload.scenarios import LONG_BURST_S, PEAK_S, Seconds

if TYPE_CHECKING:
    import numpy as np

    Integers = np.ndarray[Any, np.dtype[np.int64]]

STEP_S: Final = 10


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


def undecided(steps: Seconds, last_second: int) -> list[tuple[int, int]]:
    """The spans of seconds, half-open, that must be looked at one by one.

    Args:
        steps: of `STEP_S` seconds, ascending.
        last_second: of the last arrival.
    """
    import numpy as np

    covered = last_second + 1
    look = np.zeros(last_second // STEP_S + 1, bool)
    look[-1] = True
    tokens = steps.tokens if steps.tokens.any() else steps.requests
    for length_s, weights in ((PEAK_S, tokens), (LONG_BURST_S, steps.long_tokens)):
        if covered < length_s or not weights.any():
            continue
        look[(covered - length_s) // STEP_S] = True
        starts = _starts(np.bincount(steps.second // STEP_S, weights, len(look)), length_s)
        look[starts] = True
        ends = starts + length_s // STEP_S
        look[ends[ends < len(look)]] = True
    edges = np.flatnonzero(np.diff(look, prepend=False, append=False)).reshape(-1, 2) * STEP_S
    return [(int(start), int(end)) for start, end in edges]


def _starts(weights: Any, length_s: int) -> "Integers":
    """The steps in which the heaviest window may start."""
    import numpy as np

    length = length_s // STEP_S
    upto = np.concatenate(([0], np.cumsum(weights.astype(np.int64))))
    last = len(upto) - 1
    first = np.arange(last)
    aligned = upto[np.minimum(first + length, last)] - upto[first]
    reach = upto[np.minimum(first + length + 1, last)] - upto[first]
    return np.flatnonzero(reach >= aligned.max())


def in_spans(table: Expression, spans: Sequence[tuple[int, int]]) -> Expression:
    """The requests that arrive in any of the half-open spans of seconds."""
    import ibis

    each = [(table.arrival_s >= start) & (table.arrival_s < end) for start, end in spans]
    return table.filter(ibis.or_(*each))


def spliced(steps: Seconds, close: Seconds, spans: Sequence[tuple[int, int]]) -> Seconds:
    """The seconds within the spans, and beyond them the steps, each at its first second."""
    import numpy as np

    edges = np.array(spans, np.int64).ravel()
    coarse = np.searchsorted(edges, steps.second, side="right") % 2 == 0
    order = np.argsort(np.concatenate((steps.second[coarse], close.second)), kind="stable")
    columns = {
        name: np.concatenate((getattr(steps, name)[coarse], getattr(close, name)))[order]
        for name in ("second", "requests", "tokens", "long_tokens")
    }
    return Seconds(**columns)
