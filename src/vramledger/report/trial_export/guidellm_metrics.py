"""The distributions of a GuideLLM report, by the status of requests.

https://github.com/vllm-project/guidellm, `benchmark/schemas/metrics.py` and `schemas/base/statistics.py`: which figures
there are, and which count by tokens. Theirs are 0 where a request has no such figure; here it is left out, and the
count says so. A distribution of nothing is all zeros with the count 0, as theirs is; so are those of sockets, which a
trial over HTTP does not use.
"""

from typing import TYPE_CHECKING, Any, Final

from vramledger.record.outcome import Outcome
from vramledger.trial.conduct.detail import SHARES, Detail, detail, weighted_detail
from vramledger.trial.conduct.over_time import level_detail, rate_detail
from vramledger.trial.conduct.sent import Sent
from vramledger.trial.conduct.streamed import Streamed
from vramledger.trial.conduct.window import Window

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Booleans = np.ndarray[Any, np.dtype[np.bool_]]

_MS: Final = 1e3
STATUS: Final = {
    "successful": (Outcome.OK,),
    "errored": (Outcome.FAILED, Outcome.REJECTED, Outcome.TIMED_OUT),
    "incomplete": (Outcome.INCOMPLETE, Outcome.CANCELLED),
}
_NAMES: Final = dict(
    zip(SHARES, ("p001", "p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999"), strict=True)
)  # fmt: skip
_KINDS: Final = {
    "text": ("tokens", "words", "characters"),
    "image": ("tokens", "images", "pixels", "bytes"),
    "video": ("tokens", "frames", "seconds", "bytes"),
    "audio": ("tokens", "samples", "seconds", "bytes"),
    "tool_call": ("tokens", "mixed_tokens", "count"),
}
_NOTHING: Final = Detail(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, dict.fromkeys(SHARES, 0.0))


class ByStatus:
    """Makes distributions of figures of requests, one for each status and one for all."""

    def __init__(self, figures: Sent, chunks: Streamed, window: Window) -> None:
        self._figures = figures
        self._chunks = chunks
        self._window = window
        self._masks: dict[str, Booleans] = {
            **{name: figures.of(*group) for name, group in STATUS.items()},
            "total": figures.of(*Outcome),
        }

    def counts(self) -> dict[str, int]:
        """Requests by status."""
        return {name: int(mask.sum()) for name, mask in self._masks.items()}

    def values(self, values: "Floats", weights: "Floats | None" = None) -> dict[str, Any]:
        """Of a figure of each request, all alike or each with its weight."""
        return {
            name: summary(
                detail(values[mask])
                if weights is None
                else weighted_detail(values[mask], weights[mask])
            )
            for name, mask in self._masks.items()
        }

    def chunks(self, *, later: bool) -> dict[str, Any]:
        """Tokens a chunk; `later`: without the first of each request."""
        chunks = self._chunks
        told = ~chunks.first if later else chunks.first | ~chunks.first
        return {
            name: summary(detail(chunks.tokens[told & mask[chunks.owner]]))
            for name, mask in self._masks.items()
        }

    def request_rates(self) -> dict[str, Any]:
        """Requests that ended, a second."""
        ends = self._window.ends_s
        return self._rates(ends, ends * 0 + 1, None)

    def token_rates(self, *, inputs: bool, outputs: bool) -> dict[str, Any]:
        """Tokens a second: prompts when their first token came (or the request ended), answers chunk by chunk."""
        import numpy as np

        figures, chunks = self._figures, self._chunks
        first = figures.found.columns["first_content_s"]
        read = np.where(np.isnan(first), self._window.ends_s, first)
        times, counts = [read] * inputs, [np.nan_to_num(figures.input_tokens)] * inputs
        owners = [np.arange(len(read))] * inputs
        if outputs:
            times, counts = [*times, chunks.t_s], [*counts, chunks.tokens]
            owners = [*owners, chunks.owner]
        return self._rates(*(np.concatenate(each) for each in (times, counts, owners)))

    def concurrency(self) -> dict[str, Any]:
        """Requests in flight."""
        import numpy as np

        starts, ends = self._figures.found.columns["dispatched_s"], self._window.ends_s
        sent = ~np.isnan(starts)
        return {
            name: summary(level_detail(starts[mask & sent], ends[mask & sent], self._window.span))
            for name, mask in self._masks.items()
        }

    def _rates(self, times: "Floats", counts: "Floats", owner: Any) -> dict[str, Any]:
        masks = {name: mask if owner is None else mask[owner] for name, mask in self._masks.items()}
        return {
            name: summary(rate_detail(times[mask], counts[mask], self._window.span))
            for name, mask in masks.items()
        }


def metrics_of(
    figures: Sent, chunks: Streamed, window: Window, *, scheduled: bool
) -> dict[str, Any]:
    """All of them; `scheduled`: requests had times of their own to leave at."""
    told = ByStatus(figures, chunks, window)
    return {
        "request_totals": told.counts(),
        "requests_per_second": told.request_rates(),
        "request_concurrency": told.concurrency(),
        **_of_requests(told, figures, chunks),
        **(_of_the_schedule(told, figures) if scheduled else {}),
        "prompt_tokens_per_second": told.token_rates(inputs=True, outputs=False),
        "output_tokens_per_second": told.token_rates(inputs=False, outputs=True),
        "tokens_per_second": told.token_rates(inputs=True, outputs=True),
        "output_tokens_per_iteration": told.chunks(later=False),
        "iter_tokens_per_iteration": told.chunks(later=True),
        **{kind: dict.fromkeys(names) for kind, names in _KINDS.items()},
    }


def _of_requests(told: ByStatus, figures: Sent, chunks: Streamed) -> dict[str, Any]:
    import numpy as np

    tokens = figures.output_tokens
    iterations = np.bincount(chunks.owner, minlength=len(tokens)).astype(float)
    unused = told.values(tokens * np.nan)
    return {
        "request_latency": told.values(figures.latency_s),
        "request_streaming_iterations_count": told.values(iterations),
        "prompt_token_count": told.values(figures.input_tokens),
        "output_token_count": told.values(tokens),
        "total_token_count": told.values(figures.input_tokens + tokens),
        "time_to_first_token_ms": told.values(figures.ttft_s * _MS),
        "time_to_first_output_token_ms": told.values(figures.first_answer_s * _MS),
        "time_per_output_token_ms": told.values(figures.normalized_tpot_s * _MS, tokens),
        "inter_token_latency_ms": told.values(figures.tpot_s * _MS, tokens - 1),
        "time_to_last_round_trip_ms": unused,
        "avg_round_trip_time_ms": unused,
    }


def _of_the_schedule(told: ByStatus, figures: Sent) -> dict[str, Any]:
    columns = figures.found.columns
    return {
        "request_dispatch_delay": told.values(columns["dispatched_s"] - columns["due_s"]),
        "request_scheduled_latency": told.values(columns["done_s"] - columns["due_s"]),
    }


def summary(found: Detail | None) -> dict[str, Any]:
    """A distribution in their form."""
    of = found or _NOTHING
    return {
        "mean": of.mean,
        "median": of.percentiles[0.5],
        "mode": of.mode,
        "variance": of.std**2,
        "std_dev": of.std,
        "min": of.min,
        "max": of.max,
        "count": of.count,
        "total_sum": of.total,
        "percentiles": {name: of.percentiles[share] for share, name in _NAMES.items()},
        "pdf": None,
    }
