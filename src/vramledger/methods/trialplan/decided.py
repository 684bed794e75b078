"""What a trial decides of each line of the contract, with the confidence that was planned for."""

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.methods.measured.contract import Promise, promised, served_of
from vramledger.methods.trialplan.draining import GROWTH, slope_of
from vramledger.methods.trialplan.line_sample import LineSample, lengths_of_gaps, samples_of
from vramledger.plan.contract_json import contract_from_json
from vramledger.plan.requirement import Contract
from vramledger.record.document import Origin
from vramledger.record.latency import gaps_s, with_failures
from vramledger.record.outcome import Outcome
from vramledger.record.samples import SERVER
from vramledger.simulate.judged import Served, good_requests
from vramledger.simulate.output_gaps import Gaps
from vramledger.statistics.bounds import bounds
from vramledger.statistics.correlation import long_run_variance
from vramledger.trial.conduct.latencies import Measured, measured
from vramledger.trial.conduct.watch import SERVER as TARGET
from vramledger.trial.sampling.history import read_histories

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from vramledger.record.run import Run
    from vramledger.trial.conduct.summary import Summary

    Floats = np.ndarray[Any, np.dtype[np.float64]]

QUEUE: Final = "queue_s"
HOLDS, FAILS, OPEN = "holds", "fails", "not decided"
_INPUTS: Final = ("input_tokens_asked", "input_tokens_got")  # the first that is told
_STEP_S: Final = 1.0
_HOUR_S: Final = 3600.0
_FEWEST: Final = 10  # of good requests; fewer give no rate


@frozen
class Decided:
    """A line. `low` and `high` bound the part that keeps the limit, each at the confidence; None where it turns on something else."""

    asked: str
    found: str
    standing: str
    low: float | None = None
    high: float | None = None
    counted: float | None = None
    independent: float | None = None
    why: str = ""


def decided_lines(found: "Summary", confidence: float) -> tuple[Decided, ...]:
    """Every line of the contract that the trial was run for; nothing where it was run for none.

    Raises:
        BadInput: a table is damaged.
    """
    stated = found.trial.get("contract")
    if stated is None:
        return ()
    contract = contract_from_json(stated)
    judge = _Judge(found, contract, confidence)
    return tuple(judge.line(promise) for promise in promised(found).lines)


class _Judge:
    """Judges lines of one run."""

    def __init__(self, found: "Summary", contract: Contract, confidence: float) -> None:
        import numpy as np

        self._found, self._contract, self._confidence = found, contract, confidence
        self._reasons = {each.line: each.why for each in found.unjudgeable}
        seen = measured(found.run)
        order = np.argsort(seen.columns["due_s"], kind="stable")
        self._due_s = seen.columns["due_s"][order]
        served = served_of(seen)
        queued, self._queue_why = queue_times(found.run, seen)
        if queued is not None:
            served = replace(served, latency={**served.latency, QUEUE: queued})
        self._served = in_order(served, order, timed_gaps(found.run))
        gaps = {most: timed_gaps(found.run, most) for most in lengths_of_gaps(contract)}
        self._samples = {each.asked: each for each in samples_of(contract, self._served, gaps)}

    def line(self, promise: Promise) -> Decided:
        """One line."""
        asked, found = promise.line.asked, promise.line.found
        why = next(iter(self._found.inconclusive), "") or self._reasons.get(
            asked.split(" ", 1)[0], ""
        )
        if why:
            return Decided(asked, found, OPEN, why=why)
        if asked in self._samples:
            return self._by_share(self._samples[asked], found)
        if asked == "the queue drains":
            return self._by_queue(asked)
        if asked.endswith("requests an hour"):
            return self._by_rate(asked)
        if asked.startswith(f"{QUEUE} "):
            return Decided(asked, found, OPEN, why=self._queue_why)
        return Decided(asked, found, OPEN, why=promise.why or "a trial is not held against it")

    def _by_share(self, sample: LineSample, found: str) -> Decided:
        if not sample.counted:
            return Decided(sample.asked, found, OPEN, why="there was nothing to count")
        between = bounds(sample.kept / sample.effect, sample.independent, self._confidence)
        standing = OPEN
        if between.low >= sample.share:
            standing = HOLDS
        elif between.high < sample.share:
            standing = FAILS
        why = (
            ""
            if standing != OPEN
            else f"the bounds of the share have {sample.share:.4g} between them"
        )
        return Decided(
            sample.asked,
            found,
            standing,
            between.low,
            between.high,
            sample.counted,
            sample.independent,
            why,
        )

    def _by_queue(self, asked: str) -> Decided:
        """The queue was empty at some moment of the last tenth, and does not grow by a tenth of the arrivals."""
        waiting = _waiting(self._found)
        slope = None if waiting is None else slope_of(waiting, _STEP_S, self._confidence)
        if slope is None:
            return Decided(
                asked, "", OPEN, why="the server does not tell its queue, or not for long enough"
            )
        span = max(float(self._due_s[-1] - self._due_s[0]), 1.0)
        growth = GROWTH * len(self._due_s) / span
        found = f"slope {slope.value * _HOUR_S:+,.3g} requests an hour"
        if slope.emptied and slope.high < growth:
            return Decided(asked, found, HOLDS)
        if not slope.emptied and slope.low > 0:
            return Decided(asked, found, FAILS)
        return Decided(
            asked,
            found,
            OPEN,
            why="its slope is neither told from nothing nor from a tenth of the arrivals",
        )

    def _by_rate(self, asked: str) -> Decided:
        """Counts of good requests a second, with the long-run variance of their mean."""
        import numpy as np
        from scipy.stats import norm

        least = self._contract.requests_per_hour or 0.0
        good = good_requests(self._contract, self._served)
        span = max(float(self._due_s[-1] - self._due_s[0]), 1.0)
        if int(good.sum()) < _FEWEST:
            return Decided(
                asked,
                f"{good.sum() / span * _HOUR_S:,.0f}",
                OPEN,
                why="too few good requests for a rate",
            )
        second = (self._due_s[good] - self._due_s[0]).astype(np.int64)
        counts = np.bincount(second, minlength=int(span) + 1).astype(np.float64)
        rate = float(good.sum()) / span * _HOUR_S
        variance = max(long_run_variance(counts), float(counts.mean()))
        off = float(norm.ppf(self._confidence)) * sqrt(variance / len(counts)) * _HOUR_S
        standing = HOLDS if rate - off >= least else FAILS if rate + off < least else OPEN
        why = (
            ""
            if standing != OPEN
            else f"{rate - off:,.0f} to {rate + off:,.0f} has the threshold between"
        )
        return Decided(asked, f"{rate:,.0f}", standing, why=why)


def in_order(served: Served, order: "np.ndarray[Any, Any]", gaps: Gaps) -> Served:
    """The same requests in that order, with gaps in order of time."""
    return replace(
        served,
        input_tokens=served.input_tokens[order],
        output_tokens=served.output_tokens[order],
        ok=served.ok[order],
        cancelled=served.cancelled[order],
        stayed=served.stayed[order],
        latency={name: values[order] for name, values in served.latency.items()},
        gaps=gaps,
    )


def queue_times(run: "Run", seen: Measured) -> "tuple[Floats | None, str]":
    """Seconds that each measured request was queued, failures infinite; None with the reason where it is not told of each.

    Those that are not told are not left out: nobody knows whether they waited long.
    """
    import numpy as np

    columns = run.requests.numbers(QUEUE, "row")
    rows = ~np.isnan(columns["row"]) | (run.description.origin is Origin.SIMULATED)
    told = columns[QUEUE][rows]
    answered = seen.outcome == Outcome.OK.value
    missing = int(np.isnan(told[answered]).sum())
    if not answered.any():
        return None, "no request was answered"
    if missing:
        return None, (
            f"the run tells of {int(answered.sum()) - missing:,} of {int(answered.sum()):,} answered requests how long they were "
            "queued; stage times (--stages) tell it of each"
        )
    return with_failures(told, seen.outcome), ""


def timed_gaps(run: "Run", input_max: int | None = None) -> Gaps:
    """Every gap of the measured requests that ended as asked, in the order in which they ended: those of one step stand together.

    With `input_max`, of requests with at most so many input tokens.
    """
    import numpy as np

    found = list(_gaps_and_ends(run, input_max))
    if not found:
        return Gaps(np.zeros(0), np.zeros(0))
    seconds, ends = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(ends, kind="stable")
    return Gaps(seconds[order], np.ones(len(seconds)))


def _gaps_and_ends(run: "Run", input_max: int | None) -> "Iterator[tuple[Floats, Floats]]":
    import numpy as np
    import pyarrow.compute as pc

    names = ("row", "outcome", "first_content_s", "chunk_offset_us", *_INPUTS)
    for batch in run.requests.batches(names):
        ok = pc.equal(batch.column("outcome"), Outcome.OK.value)
        if input_max is not None:
            length = pc.coalesce(*(batch.column(name) for name in _INPUTS))
            ok = pc.and_(ok, pc.less_equal(length, input_max))
        told = pc.and_(
            pc.is_valid(batch.column("chunk_offset_us")), pc.is_valid(batch.column("row"))
        )
        kept = batch.filter(pc.fill_null(pc.and_(ok, told), False))
        offsets = kept.column("chunk_offset_us")
        counts = pc.list_value_length(offsets).to_numpy(zero_copy_only=False).astype(np.int64)
        first = np.repeat(kept.column("first_content_s").to_numpy(zero_copy_only=False), counts)
        at = first + pc.list_flatten(offsets).to_numpy(zero_copy_only=False) / 1e6
        begins = np.zeros(len(at), np.bool_)
        starts = np.cumsum(counts) - counts
        begins[starts[counts > 0]] = True
        yield gaps_s(offsets), at[~begins]


def _waiting(found: "Summary") -> "Floats | None":
    """Requests waiting, sampled every second while the load was sent; None where the server does not tell."""
    import numpy as np

    spans = found.story.spans
    if SERVER.name not in found.run.tables or not spans:
        return None
    histories = read_histories(found.run, "waiting", TARGET)
    if not histories:
        return None
    total = np.nansum(np.array([each.values for each in histories]), axis=0)
    t_s = histories[0].t_s
    moments = np.arange(spans[0].from_s, spans[-1].to_s, _STEP_S)
    at = np.searchsorted(t_s, moments, side="right") - 1
    sampled: Floats = total[at[at >= 0]]
    return sampled
