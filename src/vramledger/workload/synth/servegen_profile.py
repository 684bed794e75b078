"""A ServeGen description as a profile: what its rates and tables lead one to expect."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.workload.profile.arrivals import step_of, together
from vramledger.workload.profile.bins import bin_of
from vramledger.workload.profile.profile import Arrival, Cell, Joint, Lengths, Profile
from vramledger.workload.synth.servegen import Client, Description, LengthTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MINUTE: Final = 60
_STEPS: Final = 1000
_PERCENTILES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


def profile_of(description: Description, seconds: float | None = None) -> Profile:
    """What is expected of the first so many seconds; None: one pass.

    Counts are expected counts, rounded. There is no dispersion: the description has one by window and
    client, not of all together.
    """
    span = seconds or description.period_s
    weighed = [
        (table, requests)
        for client in description.clients
        for table, requests in _by_table(client, description.period_s, span)
        if requests > 0
    ]
    joint = _joint(weighed)
    return Profile(
        requests=joint.requests,
        input_tokens=_lengths([(table.inputs, n) for table, n in weighed], joint.requests),
        output_tokens=_lengths([(table.outputs, n) for table, n in weighed], joint.requests),
        joint=joint,
        arrival=_arrival(description, span, joint.requests),
        tenants=len(description.clients),
        basis={"input_tokens": "measured", "output_tokens": "measured"},
        unknown={
            "dispersion": "ServeGen states it for each client and window, not of all together"
        },
    )


@frozen
class _Piece:
    """A stretch at one rate."""

    start_s: float
    seconds: float
    per_s: float


def _pieces(client: Client, period_s: float, span_s: float) -> Iterator[_Piece]:
    """The windows of a client, pass after pass, until the span ends."""
    start = 0.0
    while start < span_s:
        for window in client.windows:
            begin = start + window.start_s
            if begin < span_s:
                yield _Piece(begin, min(window.seconds, span_s - begin), window.per_s)
        start += period_s


def _by_table(
    client: Client, period_s: float, span_s: float
) -> Iterator[tuple[LengthTable, float]]:
    """The client's tables, each with the requests that are expected to take their lengths from it."""
    requests: dict[int, float] = defaultdict(float)
    starts = [table.start_s for table in client.tables]
    for piece in _pieces(client, period_s, span_s):
        at = max(bisect_right(starts, piece.start_s % period_s) - 1, 0)
        requests[at] += piece.per_s * piece.seconds
    yield from ((client.tables[at], count) for at, count in sorted(requests.items()))


def _joint(weighed: list[tuple[LengthTable, float]]) -> Joint:
    """Cells of independent lengths within each table; those expected less than half a time are left out."""
    requests: Counter[tuple[int, int]] = Counter()
    inputs: Counter[tuple[int, int]] = Counter()
    outputs: Counter[tuple[int, int]] = Counter()
    for table, count in weighed:
        first, second = _binned(table.inputs), _binned(table.outputs)
        for place, (share, tokens) in first.items():
            for other, (share_, tokens_) in second.items():
                cell = place, other
                requests[cell] += count * share * share_  # type: ignore[assignment]
                inputs[cell] += count * tokens * share_  # type: ignore[assignment]
                outputs[cell] += count * share * tokens_  # type: ignore[assignment]
    cells = tuple(
        Cell(*cell, round(requests[cell]), round(inputs[cell]), round(outputs[cell]))
        for cell in sorted(requests)
        if round(requests[cell]) > 0
    )
    longest = max(
        ((table.inputs[-1][0], table.outputs[-1][0]) for table, _ in weighed),
        key=sum,
    )
    return Joint(cells, *longest)


def _binned(shares: tuple[tuple[int, float], ...]) -> dict[int, tuple[float, float]]:
    """Bin -> (share, mean tokens x share)."""
    whole = sum(share for _, share in shares)
    found: dict[int, tuple[float, float]] = {}
    for tokens, share in shares:
        place = bin_of(tokens)
        before = found.get(place, (0.0, 0.0))
        found[place] = (before[0] + share / whole, before[1] + tokens * share / whole)
    return found


def _lengths(weighed: list[tuple[tuple[tuple[int, float], ...], float]], requests: int) -> Lengths:
    import numpy as np

    mixed: dict[int, float] = defaultdict(float)
    for shares, count in weighed:
        whole = sum(share for _, share in shares)
        for tokens, share in shares:
            mixed[tokens] += count * share / whole
    values = np.array(sorted(mixed), float)
    weights = np.array([mixed[int(value)] for value in values])
    shares_ = weights / weights.sum()
    at = _quantiles(values, shares_, np.linspace(0, 1, _STEPS + 1))
    mean = float(values @ shares_)
    p10, p25, p50, p75, p90, p95, p99, p999 = (
        float(each) for each in _quantiles(values, shares_, np.array(_PERCENTILES))
    )
    return Lengths(
        requests, round(mean * requests), mean, int(values[0]), p10, p25, p50, p75, p90, p95, p99,
        p999, int(values[-1]), tuple(float(each) for each in at),
    )  # fmt: skip


def _quantiles(
    values: "NDArray[np.float64]", shares: "NDArray[np.float64]", at: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    import numpy as np

    places: Any = np.searchsorted(np.cumsum(shares) - 1e-12, at)
    found: NDArray[np.float64] = values[np.minimum(places, len(values) - 1)]
    return found


def _arrival(description: Description, span_s: float, requests: int) -> Arrival:
    import numpy as np

    minutes = np.zeros(int(span_s // _MINUTE) + 1)
    for client in description.clients:
        for piece in _pieces(client, description.period_s, span_s):
            _spread(minutes, piece)
    counts, step_s = np.diff(np.rint(np.cumsum(minutes)), prepend=0), step_of(len(minutes))
    return Arrival(
        span_s=span_s,
        mean_per_s=requests / span_s,
        per_step=tuple(int(each) for each in together(counts, step_s // _MINUTE)),
        step_s=step_s,
    )


def _spread(minutes: "NDArray[np.float64]", piece: _Piece) -> None:
    """Add the requests of a stretch to the minutes it covers."""
    import numpy as np

    first, end = int(piece.start_s // _MINUTE), piece.start_s + piece.seconds
    last = min(int(end // _MINUTE), len(minutes) - 1)
    edges = np.arange(first, last + 2) * float(_MINUTE)
    covered = np.minimum(edges[1:], end) - np.maximum(edges[:-1], piece.start_s)
    minutes[first : last + 1] += np.maximum(covered, 0.0) * piece.per_s
