"""The TTFT of successes, from when they were sent, in stages: what gateway and engine told, and the rest."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.samples import STAGES
from vramledger.trial.conduct.spread import Spread, spread
from vramledger.trial.stages.told import ENGINE, GATEWAY, GATEWAY_WHOLE, PREFILL, QUEUE, UPSTREAM

if TYPE_CHECKING:
    from vramledger.record.run import Run

_WAY: Final = "to_the_server"
_REST: Final = "rest"
_COLUMNS: Final = ("request_id", "dispatched_s", "first_content_s", "row")
_FIRST: Final = (
    GATEWAY_WHOLE,
    GATEWAY,
    ENGINE,
)  # what tells when a request came in, outermost first
_ON: Final = (UPSTREAM, ENGINE)  # what tells when a gateway sent it on


@frozen
class TtftStages:
    """`parts` by name: the way to whoever told first, then `gateway`, `queue` and `prefill` as far as they were told, then the rest of TTFT.

    Of the `requests` of which something was told; `of` is how many ended as asked. Only the way and the rest depend on how far
    the clocks are apart.
    """

    parts: dict[str, Spread]
    requests: int
    of: int


def ttft_stages(run: "Run") -> TtftStages | None:
    """None where no file of stages was read.

    Raises:
        BadInput: a table is damaged.
    """
    import numpy as np

    if STAGES.name not in run.tables:
        return None
    told = _by_request(run)
    numbers = run.requests.numbers(*_COLUMNS)
    outcome = run.requests.read(("outcome",))["outcome"].to_pylist()
    ok = [
        place
        for place, ended in enumerate(outcome)
        if ended == Outcome.OK.value and not np.isnan(numbers["row"][place])
    ]
    rows = [
        _parts(told[number], numbers["dispatched_s"][place], numbers["first_content_s"][place])
        for place in ok
        if (number := int(numbers["request_id"][place])) in told
    ]
    names = (_WAY, GATEWAY, QUEUE, PREFILL, _REST)
    found = {name: np.array([row.get(name, np.nan) for row in rows], dtype=float) for name in names}
    parts = {name: spread(values) for name, values in found.items() if not np.isnan(values).all()}
    return TtftStages(parts, len(rows), len(ok))


def _by_request(run: "Run") -> dict[int, dict[str, tuple[float, float]]]:
    """Begin and end of each stage of each request; of several services, the outermost gateway counts."""
    found: dict[int, dict[str, tuple[float, float]]] = {}
    for batch in run.table(STAGES).batches():
        for row in batch.to_pylist():
            found.setdefault(row["request_id"], {}).setdefault(row["stage"], (row["start_s"], row["end_s"]))  # fmt: skip
    return found


def _parts(told: dict[str, tuple[float, float]], sent_s: float, first_s: float) -> dict[str, Any]:
    parts: dict[str, float] = {}
    came = next((told[name][0] for name in _FIRST if name in told), None)
    if came is not None:
        parts[_WAY] = came - sent_s
    if GATEWAY in told:
        parts[GATEWAY] = told[GATEWAY][1] - told[GATEWAY][0]
    elif GATEWAY_WHOLE in told:
        on = next((told[name][0] for name in _ON if name in told), None)
        parts |= {} if on is None else {GATEWAY: on - told[GATEWAY_WHOLE][0]}
    for name in (QUEUE, PREFILL):
        if name in told:
            parts[name] = told[name][1] - told[name][0]
    return parts | {_REST: first_s - sent_s - sum(parts.values())}
