"""The time between sending a request and the engine taking it in, and after the engine has answered: how long, how even, and whether it goes with the load.

Where the head of an answer comes before its first token, the time until the head is that of the way and the front end, request by request. Where the
two come together, the engine's queue and prefill (means of the same window) are taken off the time to the first token.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.diagnose.seen.stages import Stages
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.diagnose.evidence import Evidence

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_APART: Final = (
    0.15  # of the time to the first token that lies behind the head: the head comes by itself
)
_APART_S: Final = 0.004
_MISSED: Final = 0.5
_LEAST_S: Final = 0.02


@frozen
class Outside:
    """`mean_s` is the mean time outside the engine, `share` of the time to the first token; NaN where nothing tells it.

    `floor` is its lowest tenth over its mean, `spread` its deviation over its mean within a window, `delayed` the share of requests far above the floor, `follows_load` the
    rank correlation of windows with the load (0 where there are too few), `persists` that of each window with the next. `in_server` is the part of it that the server's own TTFT has. `merged` is tokens a
    chunk, `scrape_s` the time of a metrics page, `cpu` cores of the front end's process.
    """

    mean_s: float
    share: float
    floor_s: float
    floor: float
    spread: float
    delayed: float
    follows_load: float
    persists: float
    in_server: float
    tpot_ratio: float
    tokens_ratio: float
    merged: float
    scrape_s: float
    cpu: float
    retransmits_per_s: float
    deferred: float


def outside_of(evidence: "Evidence", stages: Stages) -> Outside:
    """What was seen of it."""
    each = _each(evidence)
    told = each[np.isfinite(each)]
    mean = (
        stages.outside_s
        if np.isfinite(stages.outside_s)
        else (float(told.mean()) if len(told) else np.nan)
    )
    floor = float(np.quantile(told, 0.1)) if len(told) else np.nan
    average = float(told.mean()) if len(told) else np.nan
    in_server = max(stages.server_side_s, 0.0) / mean if mean > 0 else np.nan
    return Outside(
        mean_s=max(mean, 0.0) if np.isfinite(mean) else mean,
        share=mean / stages.ttft_s if stages.ttft_s > 0 else np.nan,
        floor_s=floor,
        floor=floor / average if average > 0 else np.nan,
        spread=_within(evidence, each),
        delayed=float((told > 3 * max(floor, 0.0) + _LEAST_S).mean()) if len(told) else np.nan,
        follows_load=_follows(evidence, each),
        persists=_persists(evidence, each),
        in_server=min(in_server, 1.0) if np.isfinite(in_server) else np.nan,
        tpot_ratio=stages.tpot_ratio,
        tokens_ratio=stages.tokens_ratio,
        merged=np.nan if evidence.setting.drafts else _median(evidence.requests.chunk_tokens),
        scrape_s=_median(evidence.of("scrape_s")),
        cpu=_most(evidence.of("process_cpu_s_per_s")),
        retransmits_per_s=evidence.mean("retransmits_per_s"),
        deferred=evidence.mean("waiting_deferred"),
    )


def _each(evidence: "Evidence") -> "Floats":
    """Seconds of each request, NaN where nothing tells it."""
    requests = evidence.requests
    if not len(requests):
        return np.zeros(0)
    heads, rest = _until_heads(evidence), _less_engine(evidence)
    if not np.isfinite(rest).any():
        return heads
    if not np.isfinite(heads).any() or np.nanmean(heads) < _MISSED * np.nanmean(rest):
        return (
            rest  # the head comes with the first token, or before the front end has done its part
        )
    return heads


def _until_heads(evidence: "Evidence") -> "Floats":
    """Until the head of each answer, where that comes well before the first token."""
    requests = evidence.requests
    before, behind = requests.before_headers_s, requests.after_headers_s
    began = requests["first_content_s"] - requests.sent_s
    told = np.isfinite(before) & np.isfinite(behind) & (before >= 0)
    nothing = np.full(len(requests), np.nan)
    if not told.any():
        return nothing
    apart = float(np.median(behind[told]))
    if apart <= min(_APART * float(np.median(began[told])), _APART_S):
        return nothing
    return np.where(told, before, np.nan)


def _less_engine(evidence: "Evidence") -> "Floats":
    """The time to each first token less the mean queue and prefill that the engine told of that window."""
    requests = evidence.requests
    engine = evidence.of("server_queue_s") + evidence.of("server_prefill_s")
    began = requests["first_content_s"] - requests.sent_s
    place = evidence.windows.place(requests["first_content_s"])
    spent = np.where(place >= 0, engine[place], np.nan)
    return np.where(np.isfinite(spent), np.maximum(began - spent, 0.0), np.nan)


def _within(evidence: "Evidence", each: "Floats") -> float:
    """The deviation within windows over the mean, so that what goes with the time is left out."""
    place = evidence.windows.place(evidence.requests["due_s"]) if len(each) else np.zeros(0, int)
    told = np.isfinite(each) & (place >= 0)
    if told.sum() < 10:
        return np.nan
    means = evidence.windows.mean(evidence.requests["due_s"], each)
    left = each[told] - means[place[told]]
    mean = float(each[told].mean())
    return float(np.sqrt((left**2).mean()) / mean) if mean > 0 else np.nan


def _follows(evidence: "Evidence", each: "Floats") -> float:
    """The rank correlation of the windows' means with what was under way and came."""
    from scipy.stats import spearmanr

    if not len(each):
        return np.nan
    means = evidence.windows.mean(evidence.requests["due_s"], each)
    load = _load(evidence)
    told = np.isfinite(means) & np.isfinite(load)
    if told.sum() < 8 or np.ptp(load[told]) == 0 or np.ptp(means[told]) == 0:
        return 0.0
    return float(spearmanr(means[told], load[told]).statistic)


def _persists(evidence: "Evidence", each: "Floats") -> float:
    """The rank correlation of each window's mean with the next one's: a backlog stays, a draw does not."""
    from scipy.stats import spearmanr

    if not len(each):
        return np.nan
    means = evidence.windows.mean(evidence.requests["due_s"], each)
    told = means[np.isfinite(means)]
    if len(told) < 8 or np.ptp(told) < 0.2 * told.mean():
        return 0.0
    return float(spearmanr(told[1:], told[:-1]).statistic)


def _load(evidence: "Evidence") -> "Floats":
    """Tokens a second that come in and go out, as a front end has to handle them; in windows of few requests it is smoothed."""
    names = ("arrivals_per_s", "completions_per_s")
    load = sum(
        (np.nan_to_num(evidence.of(name)) for name in names), np.zeros(len(evidence.windows))
    )
    width = max(len(load) // 20, 1)
    found: Floats = np.convolve(load, np.ones(width) / width, mode="same")
    return found


def _median(values: "Floats") -> float:
    told = values[np.isfinite(values)]
    return float(np.median(told)) if len(told) else np.nan


def _most(values: "Floats") -> float:
    told = values[np.isfinite(values)]
    return float(np.quantile(told, 0.8)) if len(told) else np.nan
