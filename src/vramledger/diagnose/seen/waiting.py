"""What keeps requests waiting in the engine, moment by moment, and how much that costs.

At a moment at which requests wait, one thing holds them: running ones were preempted or the cache has no room (KV), as many run as may
(sequence cap), the step's tokens are spent (token budget), or the engine says that they wait for something elsewhere (deferred).
Steps of a simulated engine tell this exactly (`simulate.binding`). A page tells running, waiting and KV use of one step, and the mean tokens
a step of the time around it.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.diagnose.seen.moments import Moments
from vramledger.diagnose.seen.stages import queue_s
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.diagnose.evidence import Evidence

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

KV: Final = "kv_cache"
SEQUENCES: Final = "sequence_cap"
TOKENS: Final = "token_budget"
ELSEWHERE: Final = "deferred"
HOLDERS: Final = (KV, SEQUENCES, TOKENS, ELSEWHERE)
FULL: Final = 0.92  # of the pool: the next prompt rarely fits into what is left
_FEWEST: Final = 5
_PLATEAU: Final = 0.75  # of the moments with waiting at which the same number runs
_LARGE: Final = 0.9  # percentile of prompts
_FAR: Final = 0.5  # of the budget: below it, few steps spend it
_NEAR: Final = 0.75  # of the cap: places are refilled a step or two after they fall free
SMALLEST_BUDGET: Final = 2048  # tokens: the least that vLLM takes of itself, from 0.6.4 on
_SPENT: Final = 0.85  # of the budget by the mean step of a window: most steps spend it


@frozen
class Waiting:
    """Shares of time 0..1: `waits` in which requests waited, `held` of that by what held them; NaN where no moment was seen.

    `cap` is the number of running requests that is not exceeded, `cap_known` whether the server was started with it.
    """

    waits: float
    held: dict[str, float]
    queue_s: float
    kv_while_waiting: float
    running_while_waiting: float
    running_most: float
    tokens_per_step: float
    cap: float
    cap_known: bool
    budget: float
    preemptions: float
    preemptions_per_request: float


def waiting_of(evidence: "Evidence") -> Waiting:
    """What was seen of the engine's queue."""
    moments = evidence.moments
    preemptions = _preemptions(evidence)
    each = preemptions / _ended(evidence)
    if moments is None or not len(moments.running):
        nothing = dict.fromkeys(HOLDERS, np.nan)
        return Waiting(np.nan, nothing, queue_s(evidence), *(np.nan,) * 5, False, np.nan, preemptions, each)  # fmt: skip
    waits = moments.waiting >= 0.5
    cap, known = _cap(evidence, moments, waits)
    budget = float(evidence.setting.token_budget or np.nan)
    held = _held(evidence, moments, waits, cap, budget, known=known)
    whole = moments.share(waits)
    return Waiting(
        waits=whole,
        held={name: moments.share(mask & waits) / whole if whole > 0 else 0.0 for name, mask in held.items()},
        queue_s=queue_s(evidence),
        kv_while_waiting=moments.mean(moments.kv_usage, waits),
        running_while_waiting=moments.mean(moments.running, waits),
        running_most=float(np.nanmax(moments.running)),
        tokens_per_step=_tokens_per_step(evidence, moments, waits),
        cap=cap,
        cap_known=known,
        budget=budget,
        preemptions=preemptions,
        preemptions_per_request=each,
    )  # fmt: skip


def _preemptions(evidence: "Evidence") -> float:
    """Of the requests themselves where they tell, else of the pages; a page counts one when its request speaks again."""
    told = evidence.requests["preemptions"]
    if np.isfinite(told).any():
        return float(np.nansum(told))
    rates = evidence.of("preemptions_per_s")
    return (
        float(np.nansum(rates * evidence.windows.widths_s)) if np.isfinite(rates).any() else np.nan
    )


def _ended(evidence: "Evidence") -> float:
    """Requests of the run; of a server alone those that its counters saw end, NaN for none."""
    if len(evidence.requests):
        return float(len(evidence.requests))
    counted = np.nansum(evidence.of("requests_finished_per_s") * evidence.windows.widths_s)
    return float(counted) if counted >= 1 else np.nan


def _cap(evidence: "Evidence", moments: Moments, waits: "Truths") -> tuple[float, bool]:
    """What the server was started with, else the number at which running requests stay while others wait."""
    setting = evidence.setting
    if setting.max_num_seqs is not None and setting.stated:
        return float(setting.max_num_seqs) * moments.engines, True
    running = moments.running[waits]
    most = float(np.nanmax(running)) if len(running) else np.nan
    at_most = moments.share(waits & (moments.running >= most - 0.5))
    if len(running) >= _FEWEST and at_most >= _PLATEAU * moments.share(waits):
        return most, False
    if len(running) >= _FEWEST and _only_places(evidence, moments, waits, most):
        return most, False
    default = setting.max_num_seqs
    return (np.nan if default is None else float(default) * moments.engines), False


def _held(
    evidence: "Evidence",
    moments: Moments,
    waits: "Truths",
    cap: float,
    budget: float,
    *,
    known: bool,
) -> "dict[str, Truths]":
    """For each moment the one thing that held requests; elsewhere none is true.

    A cap that is only seen, as a number that running requests stay at, holds nobody where blocks or tokens are spent.
    """
    nothing = np.zeros(len(waits), np.bool_)
    full = moments.running >= cap - 0.5 if np.isfinite(cap) else nothing
    crowded = moments.kv_usage >= FULL
    preempting = _at(evidence, moments, "preemptions_per_s") > 0
    if moments.tokens is not None and moments.preempted is not None:
        spent = moments.tokens >= budget if np.isfinite(budget) else nothing
        kv = (moments.preempted > 0) | (~full & (~spent | (crowded & preempting)))
        found = {KV: kv, SEQUENCES: full & ~kv, TOKENS: ~full & ~kv}
        return {name: found.get(name, nothing) for name in HOLDERS}
    deferred = _at(evidence, moments, "waiting_deferred") > 0.5 * np.maximum(moments.waiting, 1)
    spent = _at(evidence, moments, "server_iteration_tokens") >= _SPENT * budget
    crowded &= ~spent | preempting
    full &= known | (~crowded & ~spent & ~_no_room(evidence, moments, budget))
    kv = ~full & ~deferred & (crowded | _no_room(evidence, moments, budget))
    rest = ~full & ~deferred & ~kv
    places = rest & _far_from_budget(evidence, moments) & (moments.running >= _NEAR * cap - 0.5)
    return {
        KV: kv,
        SEQUENCES: (full & ~deferred) | places,
        TOKENS: rest & ~places,
        ELSEWHERE: deferred,
    }


def _only_places(evidence: "Evidence", moments: Moments, waits: "Truths", most: float) -> bool:
    """Whether blocks and tokens are free while requests wait and about as many run as ever do, so that places alone are left to hold them."""
    free = (moments.kv_usage < FULL) & _far_from_budget(evidence, moments)
    free &= ~_no_room(evidence, moments, np.nan)
    near = moments.mean(moments.running, waits) >= _NEAR * most
    return bool(near and moments.share(waits & free) >= _PLATEAU * moments.share(waits))


def _far_from_budget(evidence: "Evidence", moments: Moments) -> "Truths":
    """Where the mean step is far from its budget; of vLLM, the least that it takes of itself where nobody told."""
    setting = evidence.setting
    smallest = SMALLEST_BUDGET if setting.engine == "vllm" else np.nan
    budget = float(setting.token_budget or smallest)
    tokens = _at(evidence, moments, "server_iteration_tokens")
    found: Truths = (tokens > 0) & (tokens < _FAR * budget)
    return found


def _no_room(evidence: "Evidence", moments: Moments, budget: float) -> "Truths":
    """Whether a large prompt does not fit into what is free, while the steps are far from their budget, or requests were just preempted."""
    preempting = _at(evidence, moments, "preemptions_per_s") > 0
    pool = evidence.setting.kv_tokens
    prompt = _large_prompt(evidence)
    spent = _at(evidence, moments, "server_iteration_tokens") >= 0.5 * budget
    if pool is None or not prompt > 0:
        found: Truths = preempting & (moments.kv_usage >= 0.6)
        return found
    needs = prompt / pool
    return ((1 - moments.kv_usage) < needs) & ~spent | (preempting & (moments.kv_usage >= 0.6))


def _large_prompt(evidence: "Evidence") -> float:
    """Tokens of a large prompt; of a server alone those of the mean one, NaN where nothing was counted."""
    prompts = evidence.requests.input_tokens
    told = prompts[np.isfinite(prompts)]
    if len(told):
        return float(np.quantile(told, _LARGE))
    ended = np.nansum(evidence.of("requests_finished_per_s"))
    read = np.nansum(evidence.of("prompt_tokens_per_s"))
    return float(read / ended) if ended > 0 and read > 0 else np.nan


def _at(evidence: "Evidence", moments: Moments, name: str) -> "Floats":
    """A series of windows at each moment; 0 where it was not seen."""
    place = evidence.windows.place(moments.t_s)
    return np.where(place >= 0, np.nan_to_num(evidence.of(name))[place], 0.0)


def _tokens_per_step(evidence: "Evidence", moments: Moments, waits: "Truths") -> float:
    """Mean tokens of a step while requests wait."""
    if moments.tokens is not None:
        return moments.mean(moments.tokens, waits & (moments.tokens > 0))
    waiting = evidence.of("waiting")
    return evidence.mean("server_iteration_tokens", waiting >= 0.5)
