"""What each line of a contract needs of a trial, by a simulation of its scenario beforehand."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.methods.trialplan.chance import chance_by_ends, chance_of_failing
from vramledger.methods.trialplan.decided import QUEUE
from vramledger.methods.trialplan.draining import seconds_needed
from vramledger.methods.trialplan.line_sample import LineSample, lengths_of_gaps, samples_of
from vramledger.methods.trialplan.needed import requests_needed
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.simulate.judged import Line, fewest_for, good_requests, line_words
from vramledger.statistics.correlation import long_run_variance

if TYPE_CHECKING:
    from vramledger.methods.trialplan.played_ends import PlayedEnds, Side

    Floats = np.ndarray[Any, np.dtype[np.float64]]

HOUR_S: Final = 3600.0
TOLD: Final = (
    "ttft_s",
    "first_answer_s",
    "itl_s",
    "tpot_s",
    "e2e_s",
)  # what a trial is held against
_ITL: Final = "itl_s"
_STEP_S: Final = 1.0
_UNSEEN: Final = "a trial is not held against it"
_QUEUE: Final = "a trial is told how long each request was queued by stage times alone; give their log with --stages"
_CLOCK: Final = (
    "it turns on the hour at which the log's load begins, which the record of a trial does not hold; the same work as requests "
    "an hour can be decided"
)
_LENGTHS: Final = "a trial does not tell gaps by the length of answers"
_MARGIN: Final = (
    "the simulator expects the figure at its limit, or no margin that a sample could show"
)
_MAXIMUM: Final = "no sample proves a maximum; every request would have to be seen"
_NOTHING: Final = "no request of the scenario has this figure"


@frozen
class LineNeed:
    """One line of a contract. `needed` and `hours` are None where no time decides it, and `why` says so.

    `needed` counts requests, of ITL gaps, correlation included; None too where the line turns on time alone. `expected_share` keeps the limit at the
    expected step times; `per_hour` is what one hour brings. `hours_at_ends` is the most of the hours at the ends of the
    band, infinite where the verdict turns within it. `chance_of_failing` is 0..1.
    """

    asked: str
    expected_share: float | None
    must_share: float | None
    needed: int | None
    per_hour: float | None
    effect: float | None
    hours: float | None
    hours_at_ends: float | None
    chance_of_failing: float
    why: str = ""
    expected_holds: bool | None = None  # what the simulator says of it, None where it does not

    @property
    def can_be_decided(self) -> bool:
        """Whether there is a time that decides it."""
        return self.hours is not None


def line_needs(
    contract: Contract, ends: "PlayedEnds", confidence: float, *, stages: bool = False
) -> tuple[LineNeed, ...]:
    """Every line of the contract, in its order; `stages` is whether the trials will be told stage times."""
    found = {each.asked: each for each in _needs(contract, ends, confidence, stages=stages)}
    return tuple(
        replace(found[each.asked], expected_holds=_holds(each, found[each.asked]))
        for each in ends.expected.lines
    )


def _holds(line: Line, need: LineNeed) -> bool | None:
    """What the simulator says of a line: by its own figure, else by the share that keeps the limit."""
    if line.holds is not None or need.expected_share is None or need.must_share is None:
        return line.holds
    return need.expected_share >= need.must_share


def _needs(
    contract: Contract, ends: "PlayedEnds", confidence: float, *, stages: bool
) -> Iterator[LineNeed]:
    silent, lengths = _silent(contract, stages=stages), lengths_of_gaps(contract)
    by_side = {
        side: {
            each.asked: each for each in samples_of(contract, side.served, side.gaps_up_to(lengths))
        }
        for side in ends.sides
    }
    for line in ends.expected.lines:
        samples = {side: found.get(line.asked) for side, found in by_side.items()}
        if line.asked in silent:
            yield _without(line, silent[line.asked])
        elif samples[ends.expected] is not None:
            yield _share_need(line, samples, ends, confidence)
        elif line.asked == "the queue drains":
            yield _queue_need(line, ends, confidence)
        elif line.asked.endswith("requests an hour"):
            yield _hourly_need(line, contract, ends, confidence)
        elif line.asked.startswith("first_answer_s"):
            yield _unsimulated(line, contract, ends, confidence)
        elif line.asked.startswith("done by "):
            yield _without(line, _CLOCK)
        else:
            yield _without(line, _UNSEEN)


def _silent(contract: Contract, *, stages: bool) -> dict[str, str]:
    """Lines of latencies that a trial is not held against, with the reason."""
    return {
        line_words(name, limit, share): why
        for name, limits in contract.latency.items()
        for limit in limits
        for share in limit.percentiles
        if (why := _why_silent(name, limit, stages=stages))
    }


def _why_silent(name: str, limit: LatencyLimit, *, stages: bool) -> str:
    if name == _ITL:
        return "" if limit.is_by_input else _LENGTHS
    if name == QUEUE:
        return "" if stages else _QUEUE
    return "" if name in TOLD else _UNSEEN


def _share_need(
    line: Line, samples: "dict[Side, LineSample | None]", ends: "PlayedEnds", confidence: float
) -> LineNeed:
    sample = samples[ends.expected]
    if sample is None or not sample.counted:
        return _without(line, _NOTHING)
    kept = [each.truth >= each.share for each in samples.values() if each is not None]
    by_figure = line.amount is not None
    chance = chance_of_failing(line, ends) if by_figure else chance_by_ends(kept)
    per_hour = sample.counted / ends.span_s * HOUR_S
    needed = _correlated(sample, confidence)
    at_ends = [_correlated(each, confidence) for each in samples.values() if each is not None]
    turns = len({each.truth > each.share for each in samples.values() if each is not None}) > 1
    slowest = inf if turns or None in at_ends else max(each or 0 for each in at_ends) / per_hour
    why = "" if needed is not None else (_MAXIMUM if sample.share >= 1 else _MARGIN)
    return LineNeed(
        line.asked,
        sample.truth,
        sample.share,
        needed,
        per_hour,
        sample.effect,
        None if needed is None else needed / per_hour,
        slowest,
        chance,
        why,
    )


def _correlated(sample: LineSample, confidence: float) -> int | None:
    """The requests, correlated as they are; never fewer than such a percentile needs at all."""
    found = requests_needed(sample.truth, sample.share, confidence)
    if found is None:
        return None
    return max(int(np.ceil(found * sample.effect)), fewest_for(sample.share))


def _queue_need(line: Line, ends: "PlayedEnds", confidence: float) -> LineNeed:
    """By the slope of the queue, and once the whole load at least."""
    per_s = ends.requests / ends.span_s
    seconds = [
        max(seconds_needed(side.waiting(_STEP_S), _STEP_S, per_s, confidence), ends.span_s)
        for side in ends.sides
    ]
    holds = {side.queue_drains for side in ends.sides}
    hours = seconds[0] / HOUR_S
    slowest = max(seconds) / HOUR_S if len(holds) == 1 else inf
    chance = chance_by_ends([side.queue_drains for side in ends.sides])
    return LineNeed(line.asked, None, None, None, None, None, hours, slowest, chance)


def _hourly_need(line: Line, contract: Contract, ends: "PlayedEnds", confidence: float) -> LineNeed:
    """By the counts of good requests: hours = (2 z)^2 D rate / (rate - least)^2, D the dispersion of the counts, 1 at least."""
    least = contract.requests_per_hour or 0.0
    hours = [_hours_of_rate(contract, side, least, ends.span_s, confidence) for side in ends.sides]
    known = [each for each in hours if each is not None]
    chance = chance_by_ends([_hourly(contract, side, ends.span_s) >= least for side in ends.sides])
    turns = len({_hourly(contract, side, ends.span_s) >= least for side in ends.sides}) > 1
    slowest = inf if turns or len(known) < len(hours) else max(known)
    rate = _hourly(contract, ends.expected, ends.span_s)
    why = "" if hours[0] is not None else _MARGIN
    return LineNeed(line.asked, None, None, None, rate, None, hours[0], slowest, chance, why)


def _hourly(contract: Contract, side: "Side", span_s: float) -> float:
    return float(good_requests(contract, side.served).sum()) / span_s * HOUR_S


def _hours_of_rate(
    contract: Contract, side: "Side", least: float, span_s: float, confidence: float
) -> float | None:
    from scipy.stats import norm

    rate = _hourly(contract, side, span_s)
    if rate == least:
        return None
    good = good_requests(contract, side.served)
    counts = np.bincount(side.due_s[good].astype(np.int64), minlength=max(int(span_s), 1)).astype(
        np.float64
    )
    dispersion = long_run_variance(counts) / counts.mean() if counts.any() else 1.0
    z = 2 * float(norm.ppf(confidence))
    return float(z * z * max(dispersion, 1.0) * max(rate, least) / (rate - least) ** 2)


def _unsimulated(line: Line, contract: Contract, ends: "PlayedEnds", confidence: float) -> LineNeed:
    """A latency that the simulator does not have: no less than where every request keeps it."""
    share = next(
        share
        for limit in contract.latency["first_answer_s"]
        for share in limit.percentiles
        if line_words("first_answer_s", limit, share) == line.asked
    )
    needed = requests_needed(1.0, share, confidence)
    per_hour = ends.requests / ends.span_s * HOUR_S
    hours = None if needed is None else needed / per_hour
    why = "the simulator does not know this figure; so many are needed where every request keeps it"
    return LineNeed(line.asked, None, share, needed, per_hour, None, hours, inf, 0.5, why)


def _without(line: Line, why: str) -> LineNeed:
    return LineNeed(line.asked, None, None, None, None, None, None, None, 0.0, why)
