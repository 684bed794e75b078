"""The load that a plan asks for, and what a run came to: rate, requests in flight, the tail of lengths, duration."""

from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, Any, Final

from vramledger.accept.lines.about import About
from vramledger.accept.verdict import Reached
from vramledger.plan.requirement import LoadUnit, Scenario
from vramledger.record.document import Ended
from vramledger.statistics.estimate import percentile_of

if TYPE_CHECKING:
    import numpy as np

    from vramledger.accept.offered import Offered

    Floats = np.ndarray[Any, np.dtype[np.float64]]

NEARLY: Final = 0.95  # of what is asked counts as reached; assumed
TAIL: Final = 0.99  # of requests: the length that the tail is told by
_BEYOND: Final = 10  # requests beyond a percentile that is to be told
_RATE, _FLIGHT = "requests a second", "requests in flight"


def reached(about: About) -> tuple[Reached, ...]:
    """Every figure that the plan states, or that says how far the load came."""
    return tuple(_figures(about.scenario, about.offered))


def _figures(scenario: Scenario, offered: "Offered") -> Iterator[Reached]:
    load = scenario.load
    count, sent = len(offered.found), offered.sent_s
    rate = (count - 1) / sent if sent else None
    asked = load.amount if load.unit is LoadUnit.REQUESTS_PER_S else load.per_s
    if asked is not None:
        yield _held(_RATE, "requests/s", asked, rate)
    if load.unit is LoadUnit.CONCURRENT and load.per_s is None:
        yield _held(_FLIGHT, "requests", load.amount, _in_flight(offered))
    yield _tail("input", offered.served.input_tokens, scenario.lengths.input_at)
    yield _tail("output", offered.served.output_tokens, scenario.lengths.output_at)
    minutes = scenario.contract.minutes_of_load
    yield _held("seconds of load", "s", None if minutes is None else minutes * 60, sent)


def _tail(name: str, tokens: "Floats", asked_at: Callable[[float], int]) -> Reached:
    """The length at a high percentile, the highest that so many requests tell; its upper end is what must reach the plan's."""
    import numpy as np

    told = tokens[~np.isnan(tokens)]
    share = min(TAIL, max(1 - _BEYOND / max(len(told), 1), 0.5))
    found = percentile_of(told, share)
    asked = float(asked_at(share))
    what = f"{name} tokens at p{share * 100:.3g}"
    if found is None:
        return Reached(what, "tokens", asked, None, None)
    end = float(np.max(told)) if found.high == inf else found.high
    return Reached(what, "tokens", asked, found.value, end >= NEARLY * asked)


def _held(name: str, unit: str, asked: float | None, got: float | None) -> Reached:
    if asked is None:
        return Reached(name, unit, None, got, None)
    return Reached(name, unit, asked, got, got is not None and got >= NEARLY * asked)


def _in_flight(offered: "Offered") -> float | None:
    """The mean while the load came, as the client sees them."""
    import numpy as np

    due, done = offered.due_s, offered.found.columns["done_s"]
    if not offered.sent_s:
        return None
    last = float(due[-1])
    until = np.where(np.isnan(done), last, np.minimum(done, last))
    return float(np.maximum(until - due, 0).sum()) / offered.sent_s


def cut(offered: "Offered") -> str:
    """Why the load was not offered to its end; empty where it was."""
    ended = offered.run.description.ended
    if ended in (Ended.INTERRUPTED, Ended.KILLED, Ended.FAILED):
        return f"the run was cut off ({ended})"
    return ""
