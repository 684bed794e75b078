"""What is easily misread on a page; each trap is a function from a page to a finding or None."""

from collections.abc import Callable
from math import inf, isfinite
from typing import Final

from vramledger.diagnose.pages.page import MetricsPage
from vramledger.diagnose.told import Told

_LATENCIES: Final = ("ttft_s", "itl_s", "tpot_s", "queue_s", "e2e_s")
_COARSE: Final = 2.0  # upper end over lower end of a bucket
_RENAMED: Final = {
    "vllm:gpu_cache_usage_perc": ("vllm:kv_cache_usage_perc", "0.10"),
    "vllm:gpu_prefix_cache_queries": ("vllm:prefix_cache_queries", "0.10"),
    "vllm:gpu_prefix_cache_hits": ("vllm:prefix_cache_hits", "0.10"),
    "vllm:time_per_output_token_seconds": ("vllm:inter_token_latency_seconds", "0.10.2"),
}
_MOST_NAMES: Final = 8


def traps_of(page: MetricsPage) -> tuple[Told, ...]:
    """Every trap that lies in a page."""
    found = (trap(page) for trap in _TRAPS)
    return tuple(each for each in found if each is not None)


def _told(id: str, severity: str, cause: str, message: str, *supports: str) -> Told:  # noqa: A002 - the name of the field
    return Told(id, severity, cause, message, 1.0, 1.0, supports)


def _fractions(page: MetricsPage) -> Told | None:
    names = sorted(
        each.raw_name
        for each in page.families
        if "perc" in each.raw_name and each.common.unit == "0..1"
    )
    if not names:
        return None
    return _told(
        "M01",
        "silent",
        "fraction-named-percent",
        f"{', '.join(names)}: 0 to 1 in spite of the name; alerts on 90 never fire, 0.9 is meant.",
    )


def _several(page: MetricsPage) -> Told | None:
    engines, models = (
        page.labels.get("engine", frozenset()),
        page.labels.get("model_name", frozenset()),
    )
    if max(len(engines), len(models)) < 2:
        return None
    what = " and ".join(
        f"{len(each)} {word}"
        for each, word in ((engines, "engines"), (models, "models"))
        if len(each) > 1
    )
    return _told(
        "M02",
        "warning",
        "several-series",
        f"The page holds {what}: counts are added up here, of the KV cache's use the fullest is shown; a mean over engines hides the one that is full.",
    )


def _renamed(page: MetricsPage) -> Told | None:
    old = sorted(name for name in _RENAMED if name in page.names)
    if not old:
        return None
    said = tuple(
        f"{name} is {_RENAMED[name][0]} from {_RENAMED[name][1]} on{'; both are here and count once' if _RENAMED[name][0] in page.names else ''}."
        for name in old
    )
    return _told(
        "M03",
        "silent",
        "renamed-family",
        "Families of this page have other names in newer versions; dashboards that ask for one name go empty after an upgrade.",
        *said,
    )


def _stalled(page: MetricsPage) -> Told | None:
    running, waiting, ended = page.of("running"), page.of("waiting"), page.of("e2e_s")
    inside = sum(
        each.value for each in (running, waiting) if each is not None and isfinite(each.value)
    )
    if ended is None or ended.histogram is None:
        return None
    count = ended.histogram.count
    severity = "warning" if inside > 0 and inside >= 0.1 * count else "silent"
    return _told(
        "M04",
        severity,
        "finish-based",
        f"Times of whole requests (queue, prefill, decode, end to end) are counted when a request ends: the {inside:,.0f} in flight now are in none of them ({count:,.0f} have ended). In a stall they go silent or look healthy; the gauges tell.",
    )


def _aborts(page: MetricsPage) -> Told | None:
    ended = page.of("requests_finished")
    if page.engine != "vllm" or ended is None or not page.http:
        return None
    inside = sum(
        each.value
        for name in ("running", "waiting")
        if (each := page.of(name)) is not None and isfinite(each.value)
    )
    answered = sum(page.http.values())
    left = answered - ended.value - inside
    said = f"{answered:,.0f} requests by the web server less {ended.value:,.0f} that the engine finished and {inside:,.0f} in flight."
    if left <= 0:
        return _told(
            "M05",
            "silent",
            "aborts-derived",
            "Requests whose client left are in no counter of the engine; they follow from the web server's count, and there are none.",
            said,
        )
    return _told(
        "M05",
        "warning",
        "aborts-derived",
        f"About {left:,.0f} requests ended in no counter of the engine: their clients left or timed out, or they were refused before it. No latency has them.",
        said,
    )


def _lagging(page: MetricsPage) -> Told | None:
    found = page.of("preemptions")
    if page.engine != "vllm" or found is None:
        return None
    return _told(
        "M06",
        "silent",
        "preemptions-lag",
        f"Preemptions ({found.value:,.0f}) are counted when the preempted request next brings a token, and never where it is given up first; they come late in a shortage.",
    )


def _coarse(page: MetricsPage) -> Told | None:
    said = []
    for name in _LATENCIES:
        family = page.of(name)
        bounds = (
            None if family is None or family.histogram is None else family.histogram.bounds(0.95)
        )
        if family is None or bounds is None:
            continue
        lower, upper = bounds
        if upper == inf:
            said.append(
                f"{family.raw_name}: the 95th percentile lies beyond the last bucket, above {lower:g} s."
            )
        elif lower == 0.0:
            said.append(
                f"{family.raw_name}: the 95th percentile lies in the first bucket, below {upper:g} s; nothing smaller can be told."
            )
        elif upper / lower >= _COARSE:
            said.append(
                f"{family.raw_name}: the 95th percentile lies between {lower:g} and {upper:g} s; a line inside cannot be decided from the page."
            )
    if not said:
        return None
    return _told(
        "M07",
        "warning",
        "coarse-buckets",
        "Buckets are too coarse for some percentiles; a curve that interpolates inside them invents the figure.",
        *said,
    )


def _multiprocess(page: MetricsPage) -> Told | None:
    if page.engine != "vllm" or page.of("process_start_s") is not None:
        return None
    return _told(
        "M08",
        "silent",
        "multiprocess",
        "The page has no figures of its process: several API servers share it. Gauges are then of whichever wrote last, and when counters began to count is not said.",
    )


def _created(page: MetricsPage) -> Told | None:
    if not page.created:
        return None
    return _told(
        "M09",
        "silent",
        "created-series",
        f"{page.created} series end in _created: they are moments (seconds since 1970) at which a series began, no figures of load.",
    )


def _cached(page: MetricsPage) -> Told | None:
    usage = page.of("kv_usage")
    if usage is None:
        committed = page.of("kv_committed_tokens")
        return (
            None
            if committed is None
            else _told(
                "M10",
                "silent",
                "committed-tokens",
                "The tokens of the batch are what running requests may still need, so an upper bound of the KV cache in use.",
            )
        )
    return _told(
        "M10",
        "silent",
        "cached-blocks-are-free",
        f"{usage.raw_name} leaves out blocks that are kept for reuse only: near 0 does not mean an empty cache, and requests can lose their cache below 1.",
    )


def _prompt_tokens(page: MetricsPage) -> Told | None:
    if page.engine == "vllm" and page.of("prompt_tokens") is not None:
        return _told(
            "M11",
            "silent",
            "prompt-tokens-cached",
            "vllm:prompt_tokens counts the whole prompt, cached parts included, when the first token comes; it is no measure of prefill work.",
        )
    if page.engine == "llama.cpp":
        return _told(
            "M11",
            "silent",
            "prompt-tokens-cached",
            "llamacpp:prompt_tokens_total leaves out what was cached, and the names that end in tokens_seconds are tokens a second.",
        )
    if page.engine == "sglang" and page.of("prefix_hit_rate") is not None:
        return _told(
            "M11",
            "silent",
            "last-batch",
            "sglang:cache_hit_rate is that of the last prefill; over time it is cached_tokens over prompt_tokens. num_retracted_reqs is of the last step, too.",
        )
    if page.engine == "tgi" and page.of("tpot_s") is not None:
        return _told(
            "M11",
            "silent",
            "prefill-in-tpot",
            "tgi_request_mean_time_per_token_duration has the prefill in it; it is no time between tokens.",
        )
    return None


def _drafts(page: MetricsPage) -> Told | None:
    drafts = page.of("spec_drafts")
    if drafts is None or not drafts.value > 0:
        return None
    return _told(
        "M12",
        "warning",
        "several-tokens-an-event",
        "Drafted tokens come several at once: times between output events are longer than times per token here.",
    )


def _not_numbers(page: MetricsPage) -> Told | None:
    if not page.not_numbers:
        return None
    shown = ", ".join(page.not_numbers[:_MOST_NAMES])
    return _told(
        "M13",
        "warning",
        "no-number",
        f"Some series have no number now ({shown}); they are left out.",
    )


def _doubled(page: MetricsPage) -> Told | None:
    if not page.doubled:
        return None
    return _told(
        "M14",
        "warning",
        "doubled-series",
        f"{page.doubled} lines repeat a series that the page had already; the first of each counts.",
    )


def _waiting(page: MetricsPage) -> Told | None:
    waiting, usage = page.of("waiting"), page.of("kv_usage")
    if waiting is None or usage is None or not waiting.value > 0 or not usage.value < 0.8:
        return None
    return _told(
        "M15",
        "warning",
        "waiting-with-free-cache",
        f"{waiting.value:,.0f} requests wait while the KV cache is {100 * usage.value:.0f} % full: something else than memory holds them (the cap on sequences, the token budget, adapters), and more memory would not help.",
    )


_TRAPS: Final[tuple[Callable[[MetricsPage], Told | None], ...]] = (
    _fractions, _several, _renamed, _stalled, _aborts, _lagging, _coarse, _multiprocess, _created, _cached, _prompt_tokens, _drafts, _not_numbers, _doubled, _waiting,
)  # fmt: skip
