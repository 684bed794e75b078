"""What one trial says to a method: the contract's lines, what stops a ramp beside it, what the safe load asks, the figures."""

from collections.abc import Iterator
from math import exp
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.methods.measured.contract import Promise, Standing, promised
from vramledger.methods.measured.queue_growth import queue_growth
from vramledger.methods.measured.sure import changed_by_chance
from vramledger.methods.simulated.in_system import InSystem, in_system
from vramledger.methods.subject import Axis, Check, Figures, Observation
from vramledger.plan.contract_json import contract_from_json
from vramledger.plan.headroom import LONGEST_SHARE, kept_free
from vramledger.plan.requirement import Contract, Kind
from vramledger.record.outcome import Outcome
from vramledger.record.run import Run, read_run
from vramledger.simulate.judged import Amount
from vramledger.trial.conduct.latencies import Measured, measured
from vramledger.trial.conduct.summary import Summary, summarise

if TYPE_CHECKING:
    from pathlib import Path

NO_PREEMPTION: Final = "no preemption"
QUEUE: Final = "the queue does not grow"
STAYS: Final = "the server does not restart"
ANSWERED: Final = 0.99  # of requests, where the contract says nothing of success: an assumption
_LATE: Final = (
    "The client was the bottleneck in some steps: their times decide nothing, but the server had as many requests in flight as it "
    "was to have, so that what it says of preemption and of its cache stands. Use more workers, or cores that nothing else uses."
)
_NEARLY_ALL: Final = 0.9
_CHANCE: Final = 0.05
_RESTARTED: Final = "server_restarted"
_REFUSED: Final = "connect_refused"


@frozen
class Judging:
    """How runs are judged: what counts as load, and what the plan keeps free of the KV cache (0..1, None: by `kind`)."""

    axis: Axis
    headroom: float | None = None
    kind: Kind = Kind.LATENCY


@frozen
class Read:
    """A trial read back.

    `open` are the reasons why it decides nothing, with their remedies; `client` is whether the client was the bottleneck,
    `preemptions_told` whether the server counts preemptions, `kv_told` whether it tells how full its KV cache is.
    """

    seen: Observation
    open: tuple[str, ...]
    client: bool
    preemptions_told: bool
    kv_told: bool


def read_observation(folder: "Path", level: float, judging: Judging) -> Read:
    """What a closed trial shows at that level.

    Raises:
        BadInput: it is no closed trial, or damaged.
    """
    run = read_run(folder)
    summary, found = summarise(run), measured(run)
    late = tuple(_client(summary))
    full = bool(late) and judging.axis is Axis.CONCURRENCY and _in_flight(summary, level)
    stopped = (*(() if full else late), *_cut(summary))
    stated = summary.trial.get("contract")
    contract = Contract() if stated is None else contract_from_json(stated)
    seen = Observation(
        level=level,
        seed=run.description.seed or 0,
        contract=tuple(_stops(run, summary, found, contract, judging.axis, late)),
        headroom=(_kv_use(summary, found, judging),),
        figures=_figures(summary, found),
        took_s=summary.rates.seconds or 0.0,
        notes=(*((_LATE,) if full else late), *_notes(summary)),
        unsure=(not late and changed_by_chance(run, contract, len(found)))
        or _few_preemptions(summary)
        or bool(gone(summary)),  # another play tells whether it was the load
    )
    return Read(
        seen,
        stopped,
        bool(summary.client_bottleneck),
        summary.server.preemptions is not None,
        summary.server.levels["kv_usage"].p99 is not None,
    )


def _in_flight(summary: Summary, level: float) -> bool:
    """Whether the server had the requests that were to be in flight all the same, on half of its pages or more.

    Then what it says of preemption and of its cache stands, however late the client was; times do not.
    """
    running, waiting = (summary.server.levels[name].p50 for name in ("running", "waiting"))
    return running is not None and running + (waiting or 0.0) >= _NEARLY_ALL * level


def gone(summary: Summary) -> str:
    """How the server went away while the load was sent; empty where it stayed.

    It answered before the load began, so that whoever refuses a connection afterwards has gone.
    """
    restarts = sum(each.event == _RESTARTED for each in summary.story.events)
    if restarts:
        return f"{restarts} times" if restarts > 1 else "once"
    refused = sum(each.count for each in summary.errors if each.name == _REFUSED)
    return f"it was away for {refused:,} requests" if refused else ""


def _few_preemptions(summary: Summary) -> bool:
    """Whether a play of the same load could well have none: the chance is exp(-c) where c are to be expected."""
    count = summary.server.preemptions
    return count is not None and count > 0 and exp(-count) > _CHANCE


def _client(summary: Summary) -> Iterator[str]:
    yield from dict.fromkeys(
        each.bottleneck for each in summary.healths if each.bottleneck is not None
    )


def _cut(summary: Summary) -> Iterator[str]:
    """Why the load was not offered as asked."""
    from vramledger.record.document import Ended

    if summary.story.lost:
        yield (
            f"The client's {', '.join(summary.story.lost)} went before its end, and its share of the load was not offered; "
            "run the step again."
        )
    if summary.description.ended in (Ended.KILLED, Ended.FAILED, Ended.INTERRUPTED):
        yield f"The step was cut off ({summary.description.ended}); run it again."


def _stops(
    run: Run,
    summary: Summary,
    found: Measured,
    contract: Contract,
    axis: Axis,
    late: tuple[str, ...],
) -> Iterator[Check]:
    """What says stop: the contract, preemption, a queue that grows, requests that fail, a server that goes."""
    for promise in promised(summary).lines:
        own = (
            "the queue drains",
            *contract.server_lines,
            *contract.service_lines,
        )  # for which the checks of every step stand
        if promise.line.asked not in own:
            yield _line(promise, late=bool(late))
    if contract.success is None:
        yield _answered(found)
    yield _preemption(summary)
    if axis is Axis.RATE:
        growth = queue_growth(run, found)
        holds = None if growth.grows is None else not growth.grows
        yield Check(QUEUE, growth.said, holds)
    if went := gone(summary):
        yield Check(STAYS, went, holds=False)


def _line(promise: Promise, *, late: bool) -> Check:
    """A line of the contract; one of times decides nothing where the client was late."""
    line = promise.line
    few = line.few is not None
    timed = late and not line.asked.startswith("success")
    judged = promise.standing is not Standing.OPEN and not timed
    asks_more = few or (line.holds is False and line.asked.endswith("requests an hour"))
    said = line.found if judged or few else f"{line.found}, not decided"
    holds = False if few else (line.holds if judged else None)
    return Check(line.asked, said, holds, wants_more=asks_more, amount=line.amount)


def _answered(found: Measured) -> Check:
    ok = int((found.outcome == Outcome.OK.value).sum())
    counted = int((found.outcome != Outcome.CANCELLED.value).sum())
    asked = f"success >= {ANSWERED:.2%}"
    if not counted:
        return Check(asked, "nothing to count", None)
    share = ok / counted
    return Check(
        asked, f"{share:.2%}", share >= ANSWERED, amount=Amount("success", share, ANSWERED)
    )


def _preemption(summary: Summary) -> Check:
    count = summary.server.preemptions
    if count is None:
        return Check(NO_PREEMPTION, "the server does not count them", None)
    amount = Amount("preemptions", count, 0)
    return Check(NO_PREEMPTION, f"{count:,.0f}", count == 0, amount=amount)


def _kv_use(summary: Summary, found: Measured, judging: Judging) -> Check:
    import numpy as np

    columns = found.columns
    capacity = summary.server.kv_capacity_tokens
    tokens = columns["input_tokens_got"] + columns["output_tokens_got"]
    tokens = tokens[~np.isnan(tokens)]
    longest = (
        float(np.quantile(tokens, LONGEST_SHARE)) / capacity if capacity and len(tokens) else 0.0
    )
    present = _present(found).mean or 0.0
    most = 1 - kept_free(judging.headroom, judging.kind, present, longest)
    asked = f"KV use p99 <= {most:.1%}"
    used = summary.server.levels["kv_usage"].p99
    if used is None:
        return Check(asked, "the server does not tell", None)
    return Check(asked, f"{used:.1%}", used <= most, amount=Amount("kv_p99", used, most))


def _present(found: Measured) -> InSystem:
    import numpy as np

    columns = found.columns
    due = columns["due_s"]
    if len(due) < 2:
        return InSystem(None, None)
    order = np.argsort(due, kind="stable")
    return in_system(due[order], columns["done_s"][order])


def _figures(summary: Summary, found: Measured) -> Figures:
    import numpy as np

    due = found.columns["due_s"]
    span = float(np.ptp(due)) if len(due) > 1 else 0.0
    present = _present(found)
    offered = summary.latencies.offered
    ttft, e2e = offered["ttft_s"], offered["e2e_s"]
    preemptions = summary.server.preemptions
    return Figures(
        offered_per_s=(len(due) - 1) / span if span else None,
        answered_per_s=summary.rates.requests_per_s or 0.0,
        ttft_p50_s=ttft.p50,
        ttft_p95_s=ttft.p95,
        e2e_mean_s=summary.latencies.ok["e2e_s"].mean,
        e2e_p95_s=e2e.p95,
        kv_p99=summary.server.levels["kv_usage"].p99,
        in_system_mean=present.mean,
        in_system_p99=present.p99,
        preemptions=None if preemptions is None else round(preemptions),
    )


def _notes(summary: Summary) -> Iterator[str]:
    yield from summary.warnings
    yield from (each.why for each in summary.unjudgeable)
    for each in summary.errors:
        yield f"{each.count:,} requests failed ({each.name}): {each.sentence}"
