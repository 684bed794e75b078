"""Where a request's time goes until its first token: late at the client, on the way, in the front end, in the queue, in prefill.

A client's time to the first token less what the engine tells of queue and prefill is time outside the engine. The engine tells
each request's queue in a simulated run, and means over all requests on its pages (Sum and count of histograms, so that no bucket matters). Where no request was recorded, the server's own time to the first token and
its time between tokens stand for the client's, so that what lies beyond the server stays unseen.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.diagnose.evidence import Evidence

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


_LIVES: Final = 10  # of a request, that a look must last


@frozen
class Stages:
    """Mean seconds a request, NaN for what was not seen.

    `outside_s` is from sending to the first token, less queue and prefill in the engine; `server_side_s` the part of it that the
    server's own TTFT has too, `beyond_s` the part that it has not. `before_headers_s` is what the client saw until the head came, `floor_s`
    its lowest twentieth, `spread` its deviation over its mean. `tpot_ratio` is the client's time per token over the engine's, the median of windows;
    `tokens_ratio` that of all tokens together, in which a few long pauses count.
    """

    ttft_s: float
    late_s: float
    queue_s: float
    prefill_s: float
    outside_s: float
    server_side_s: float
    beyond_s: float
    before_headers_s: float
    floor_s: float
    spread: float
    tpot_s: float
    itl_s: float
    tpot_ratio: float
    tokens_ratio: float


def stages_of(evidence: "Evidence") -> Stages:
    """The stages of all requests that got a first token."""
    requests = evidence.requests
    began = np.isfinite(requests.ttft_s) & (requests.ttft_s >= 0)
    alone = not len(requests)  # then the server's own times stand for those of clients
    own, itl = _counted(evidence, "server_ttft_s"), _counted(evidence, "server_itl_s")
    ttft = own if alone else _mean(requests.ttft_s[began])
    late = _mean(requests.late_s[began])
    queue, prefill = queue_s(evidence), _counted(evidence, "server_prefill_s")
    if not np.isfinite(prefill) and np.isfinite(requests["queue_s"]).any():
        prefill = max(ttft - np.nan_to_num(late) - queue, 0.0)
    outside = ttft - np.nan_to_num(late) - queue - prefill
    if alone and not _of_the_same_requests(evidence):
        outside = np.nan
    before = requests.before_headers_s[began]
    before = before[np.isfinite(before)]
    tpot = itl if alone else _mean(requests.tpot_s[began])
    return Stages(
        ttft_s=ttft,
        late_s=late,
        queue_s=queue,
        prefill_s=prefill,
        outside_s=outside,
        server_side_s=outside if alone else own - queue - prefill,
        beyond_s=np.nan if alone else ttft - np.nan_to_num(late) - own,
        before_headers_s=_mean(before),
        floor_s=float(np.quantile(before, 0.05)) if len(before) else np.nan,
        spread=float(before.std() / before.mean()) if len(before) and before.mean() > 0 else np.nan,
        tpot_s=tpot,
        itl_s=itl,
        tpot_ratio=_token_ratio(evidence),
        tokens_ratio=_all_tokens(evidence) / itl if itl > 0 else np.nan,
    )


def _of_the_same_requests(evidence: "Evidence") -> bool:
    """Whether a server's means are of nearly the same requests: time to the first token is counted when that comes, queue and prefill at a request's end."""
    lasts = _counted(evidence, "server_e2e_s")
    return bool(lasts * _LIVES <= float(evidence.windows.widths_s.sum()))


def queue_s(evidence: "Evidence") -> float:
    """The mean wait in the engine's queue: of the requests themselves, of its pages, or by Little's law from the waiting ones."""
    told = _mean(evidence.requests["queue_s"])
    if np.isfinite(told):
        return told
    told = _counted(evidence, "server_queue_s")
    if np.isfinite(told):
        return told
    waiting, arrivals = evidence.mean("waiting"), evidence.mean("arrivals_per_s")
    return waiting / arrivals if arrivals > 0 else np.nan


def _counted(evidence: "Evidence", name: str) -> float:
    """The mean of a histogram over the run: each window as often as it counted."""
    values, counts = evidence.of(name), evidence.of(f"{name}_per_s") * evidence.windows.widths_s
    told = np.isfinite(values) & np.isfinite(counts) & (counts > 0)
    return float((values * counts)[told].sum() / counts[told].sum()) if told.any() else np.nan


def _token_ratio(evidence: "Evidence") -> float:
    """The client's time per token over the engine's own, by windows in which both were seen: their median."""
    client, server = evidence.of("tpot_s"), evidence.of("server_itl_s")
    both = np.isfinite(client) & np.isfinite(server) & (server > 0)
    return float(np.median(client[both] / server[both])) if both.any() else np.nan


def _all_tokens(evidence: "Evidence") -> float:
    """Seconds between tokens at the client, over all tokens of all requests: what the sum and count of the engine's ITL tell of itself."""
    requests = evidence.requests
    span = requests["last_content_s"] - requests["first_content_s"]
    later = requests["output_tokens_got"] - 1
    told = np.isfinite(span) & (later >= 1)
    return float(span[told].sum() / later[told].sum()) if told.any() else np.nan


def _mean(values: "Floats") -> float:
    told = values[np.isfinite(values)]
    return float(told.mean()) if len(told) else np.nan
