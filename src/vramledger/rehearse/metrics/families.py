"""The metrics of vLLM that a rehearsal keeps: names, types, labels, buckets, and the versions that have them.

After ``vllm/v1/metrics/loggers.py`` of 0.9 to 0.33 (https://github.com/vllm-project/vllm) and pages of 0.10.2 and 0.32.0.
A figure that was renamed has a row for each name; a rehearsed version serves those it has.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from vramledger.frozen import frozen

Version = tuple[int, int]
_ALWAYS: Final[Version] = (0, 0)
_NOW: Final[Version] = (1 << 30, 0)


class Figure(Enum):
    """What is counted or shown, whatever its name."""

    RUNNING = auto()
    WAITING = auto()
    WAITING_BY_REASON = auto()
    KV_USAGE = auto()
    SLEEP_STATE = auto()
    PREFIX_QUERIES = auto()
    PREFIX_HITS = auto()
    OTHER_CACHES = auto()
    PREEMPTIONS = auto()
    PROMPT_TOKENS = auto()
    PROMPT_BY_SOURCE = auto()
    PROMPT_CACHED = auto()
    CACHED_BY_SOURCE = auto()
    GENERATION_TOKENS = auto()
    SUCCESS = auto()
    REJECTIONS = auto()
    DRAFTS = auto()
    DRAFT_TOKENS = auto()
    ACCEPTED_TOKENS = auto()
    REQUEST_PROMPT = auto()
    REQUEST_GENERATION = auto()
    STEP_TOKENS = auto()
    MAX_GENERATION = auto()
    PARAMS_N = auto()
    PARAMS_MAX_TOKENS = auto()
    TTFT = auto()
    ITL = auto()
    TPOT = auto()
    E2E = auto()
    QUEUE = auto()
    INFERENCE = auto()
    PREFILL = auto()
    DECODE = auto()
    REQUEST_PREEMPTIONS = auto()
    COMPUTED = auto()


class Kind(Enum):
    """The type of a metric."""

    GAUGE = auto()
    COUNTER = auto()
    HISTOGRAM = auto()


@frozen
class Family:
    """One metric of the versions from `since` to `until`, both included.

    `values` are those of its own label, all shown from the start.
    """

    figure: Figure
    kind: Kind
    name: str
    help: str
    label: str | None = None
    values: tuple[str, ...] = ()
    buckets: Sequence[float] | None = None  # None: 1, 2, 5, 10, ... up to max_model_len
    since: Version = _ALWAYS
    until: Version = _NOW


FINISHED: Final = ("stop", "length", "abort", "error", "repetition")
_PHASE: Final = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    *(120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)
_TTFT: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
    *(20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
_ITL: Final = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
    *(20.0, 40.0, 80.0),
)
_STEP: Final = (1.0, 8.0, *(float(1 << power) for power in range(4, 15)))
_FEW: Final = (1.0, 2.0, 5.0, 10.0, 20.0)
_PREEMPTIONS: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0)
_G, _C, _H = Kind.GAUGE, Kind.COUNTER, Kind.HISTOGRAM

FAMILIES: Final = (
    Family(Figure.RUNNING, _G, "num_requests_running", "Requests in the running list."),
    Family(Figure.WAITING, _G, "num_requests_waiting", "Requests that wait, preempted ones too."),
    Family(
        Figure.WAITING_BY_REASON,
        _G,
        "num_requests_waiting_by_reason",
        "Waiting requests by reason.",
        "reason",
        ("capacity", "deferred"),
        since=(0, 20),
    ),
    Family(
        Figure.SLEEP_STATE,
        _G,
        "engine_sleep_state",
        "Whether the engine sleeps.",
        "sleep_state",
        ("awake", "weights_offloaded", "discard_all"),
        since=(0, 13),
    ),
    Family(Figure.KV_USAGE, _G, "kv_cache_usage_perc", "Share of KV blocks held.", since=(0, 10)),
    Family(Figure.KV_USAGE, _G, "gpu_cache_usage_perc", "Share of KV blocks held.", until=(0, 10)),
    Family(
        Figure.PREFIX_QUERIES, _C, "prefix_cache_queries", "Prompt tokens looked up.", since=(0, 10)
    ),
    Family(Figure.PREFIX_HITS, _C, "prefix_cache_hits", "Prompt tokens found.", since=(0, 10)),
    Family(
        Figure.PREFIX_QUERIES,
        _C,
        "gpu_prefix_cache_queries",
        "Prompt tokens looked up.",
        until=(0, 10),
    ),
    Family(Figure.PREFIX_HITS, _C, "gpu_prefix_cache_hits", "Prompt tokens found.", until=(0, 10)),
    *(
        Family(Figure.OTHER_CACHES, _C, name, "A cache that is not there.", since=(0, 13))
        for name in (
            "external_prefix_cache_queries",
            "external_prefix_cache_hits",
            "mm_cache_queries",
            "mm_cache_hits",
        )
    ),
    Family(Figure.PREEMPTIONS, _C, "num_preemptions", "Preemptions of requests that went on."),
    Family(Figure.PROMPT_TOKENS, _C, "prompt_tokens", "Tokens of prompts, cached ones too."),
    Family(
        Figure.PROMPT_BY_SOURCE,
        _C,
        "prompt_tokens_by_source",
        "Tokens of prompts by where their cache came from.",
        "source",
        ("local_compute", "local_cache_hit", "external_kv_transfer"),
        since=(0, 16),
    ),
    Family(
        Figure.PROMPT_CACHED, _C, "prompt_tokens_cached", "Tokens of prompts found.", since=(0, 16)
    ),
    Family(
        Figure.CACHED_BY_SOURCE,
        _C,
        "prompt_tokens_cached_by_source",
        "Tokens of prompts found, by tier.",
        "source",
        ("device", "host", "p2p", "disk", "external_unspecified"),
        since=(0, 32),
    ),
    Family(Figure.GENERATION_TOKENS, _C, "generation_tokens", "Tokens of answers."),
    Family(
        Figure.SUCCESS,
        _C,
        "request_success",
        "Requests that the engine finished.",
        "finished_reason",
        FINISHED,
    ),
    Family(
        Figure.REQUEST_PROMPT, _H, "request_prompt_tokens", "Tokens of a finished request's prompt."
    ),
    Family(
        Figure.REQUEST_GENERATION,
        _H,
        "request_generation_tokens",
        "Tokens of a finished request's answer.",
    ),
    Family(
        Figure.STEP_TOKENS,
        _H,
        "iteration_tokens_total",
        "Tokens of a step: of prompts that it finished, and of answers.",
        buckets=_STEP,
    ),
    Family(
        Figure.MAX_GENERATION,
        _H,
        "request_max_num_generation_tokens",
        "Most tokens that a request's answers were to have.",
    ),
    Family(Figure.PARAMS_N, _H, "request_params_n", "Answers asked for.", buckets=_FEW),
    Family(Figure.PARAMS_MAX_TOKENS, _H, "request_params_max_tokens", "max_tokens as asked."),
    Family(
        Figure.TTFT, _H, "time_to_first_token_seconds", "Time to the first token.", buckets=_TTFT
    ),
    Family(
        Figure.ITL,
        _H,
        "inter_token_latency_seconds",
        "Time between outputs of a request.",
        buckets=_ITL,
        since=(0, 10),
    ),
    Family(
        Figure.ITL,
        _H,
        "time_per_output_token_seconds",
        "Time between outputs of a request.",
        buckets=_ITL,
        until=(0, 12),
    ),
    Family(
        Figure.TPOT,
        _H,
        "request_time_per_output_token_seconds",
        "A finished request's mean time per token after its first.",
        buckets=_ITL,
        since=(0, 13),
    ),
    Family(
        Figure.E2E,
        _H,
        "e2e_request_latency_seconds",
        "From arrival to the last token.",
        buckets=_PHASE,
    ),
    Family(
        Figure.QUEUE,
        _H,
        "request_queue_time_seconds",
        "From being queued to the first step.",
        buckets=_PHASE,
    ),
    Family(
        Figure.INFERENCE,
        _H,
        "request_inference_time_seconds",
        "From the first step to the last token.",
        buckets=_PHASE,
    ),
    Family(
        Figure.PREFILL,
        _H,
        "request_prefill_time_seconds",
        "From the first step to the first token.",
        buckets=_PHASE,
    ),
    Family(
        Figure.DECODE,
        _H,
        "request_decode_time_seconds",
        "From the first token to the last.",
        buckets=_PHASE,
    ),
    Family(
        Figure.REQUEST_PREEMPTIONS,
        _H,
        "request_num_preemptions",
        "Preemptions of a finished request.",
        buckets=_PREEMPTIONS,
        since=(0, 30),
    ),
    Family(
        Figure.COMPUTED,
        _H,
        "request_prefill_kv_computed_tokens",
        "Tokens of a finished request's prompt that were computed.",
        since=(0, 13),
    ),
)
REJECTIONS: Final = Family(
    Figure.REJECTIONS,
    _C,
    "admission_rejections",
    "Requests turned away by a limit of the queue.",
    "reason",
    ("max_num_queued_reqs", "max_num_queued_tokens"),
    since=(0, 32),
)
SPECULATION: Final = (
    Family(Figure.DRAFTS, _C, "spec_decode_num_drafts", "Drafts verified."),
    Family(Figure.DRAFT_TOKENS, _C, "spec_decode_num_draft_tokens", "Draft tokens verified."),
    Family(Figure.ACCEPTED_TOKENS, _C, "spec_decode_num_accepted_tokens", "Draft tokens accepted."),
)


def one_two_five(largest: int) -> tuple[float, ...]:
    """1, 2, 5, 10, 20, ... up to `largest`."""
    found = [float(first * 10**power) for power in range(len(str(largest))) for first in (1, 2, 5)]
    return tuple(bucket for bucket in found if bucket <= largest)
