"""The figures of a trial's steady part, beside those of the whole."""

from collections.abc import Sequence

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.run import Run
from vramledger.trial.conduct.history import Span
from vramledger.trial.conduct.latencies import Latencies, Measured, Window, latencies
from vramledger.trial.conduct.server_side import ServerSide, server_side
from vramledger.trial.conduct.steady import Steady, steady_part


@frozen
class SteadyPart:
    """The steady part of a trial beside the whole: of the requests due in it, and of the server while it lasted.

    `part` says when it was, or why there is none; all else is None then.
    """

    part: Steady
    offered: int | None = None
    ok: int | None = None
    latencies: Latencies | None = None
    requests_per_s: float | None = None
    output_tokens_per_s: float | None = None
    server: ServerSide | None = None


def steady_figures(
    run: Run, spans: Sequence[Span], found: Measured, capacity: int | None
) -> SteadyPart:
    """The steady part of a run's measured requests; of a run that was resumed, in the longest time without a pause.

    Raises:
        BadInput: a table is damaged.
    """
    span = max(spans, key=lambda each: each.to_s - each.from_s, default=None)
    if span is not None and len(spans) > 1:
        found = found.due_in((span.from_s, span.to_s))
    columns = found.columns
    part = steady_part(columns["due_s"], columns["dispatched_s"], columns["done_s"])
    if part.from_s is None or part.to_s is None:
        return SteadyPart(part)
    window, seconds = (part.from_s, part.to_s), part.to_s - part.from_s
    inside = found.due_in(window)
    ok = int((inside.outcome == Outcome.OK.value).sum())
    return SteadyPart(
        part,
        offered=len(inside),
        ok=ok,
        latencies=latencies(run, inside, window),
        requests_per_s=ok / seconds,
        output_tokens_per_s=_tokens_in(found, window) / seconds,
        server=server_side(run, (Span(*window, window[0]),), capacity, window[1]),
    )


def _tokens_in(found: Measured, window: Window) -> float:
    """Output tokens that came in a time, those of each request taken as evenly spread from its first to its last."""
    import numpy as np

    first, last = found.columns["first_content_s"], found.columns["last_content_s"]
    tokens = found.columns["output_tokens_got"]
    began, ended = np.maximum(first, window[0]), np.minimum(last, window[1])
    inside = np.maximum(ended - began, 0.0)
    at_once = (last <= first) & (first >= window[0]) & (first <= window[1])
    whole = np.where(last > first, last - first, 1.0)
    return float(np.nansum(tokens * np.where(at_once, 1.0, inside / whole)))
