"""What a run says beside its requests: of a trial by its summary, of a simulation by its tables."""

from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.record.document import Origin
from vramledger.record.outcome import Outcome
from vramledger.trial.conduct.summary import summarise
from vramledger.trial.prompts.judgeable import Unjudgeable

if TYPE_CHECKING:
    from vramledger.record.run import Run

_PAUSES: Final = "the simulation does not tell the pauses of {count:,} requests that were preempted"


@frozen
class Told:
    """`unjudgeable` are latencies that the run cannot decide, `inconclusive` why it decides nothing at all.

    `late_s` is how late 99 % of the requests were sent at most; `has_client` is whether a client told how it was. `preemptions` is None
    where nobody counts them.
    """

    unjudgeable: tuple[Unjudgeable, ...] = ()
    inconclusive: tuple[str, ...] = ()
    has_client: bool = False
    late_s: float | None = None
    preemptions: float | None = None


def told_of(run: "Run") -> Told:
    """Of a closed run.

    Raises:
        BadInput: it is neither a trial nor a simulation, or damaged.
    """
    if run.description.origin is Origin.SIMULATED:
        return _simulated(run)
    found = summarise(run)
    return Told(
        unjudgeable=found.unjudgeable,
        inconclusive=found.inconclusive,
        has_client=bool(found.healths),
        late_s=found.latencies.late_dispatch_s.p99,
        preemptions=found.server.preemptions,
    )


def _simulated(run: "Run") -> Told:
    import numpy as np

    columns = run.requests.numbers("preemptions", "first_step", "output_tokens_got")
    outcome = np.asarray(run.requests.read(("outcome",))["outcome"].to_pylist(), dtype=object)
    spoke = (outcome == Outcome.OK.value) & (columns["output_tokens_got"] > 1)
    untold = int((spoke & np.isnan(columns["first_step"])).sum())
    why = (Unjudgeable("itl_s", _PAUSES.format(count=untold)),) if untold else ()
    counted = columns["preemptions"]
    return Told(why, preemptions=float(np.nansum(counted)) if not np.isnan(counted).all() else None)
