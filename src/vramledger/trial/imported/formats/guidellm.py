"""GuideLLM's ``benchmarks.json``, report schema 2 (version 0.7 on): one run a benchmark in it.

https://github.com/vllm-project/guidellm: `schemas/base/request_stats.py` (formulas), `schemas/base/info.py` (moments),
`benchmark/schemas/metrics.py` (what counts by tokens). Moments are of the wall clock, so that a step of it is in the latencies.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.conduct.detail import Detail, weighted_detail
from vramledger.trial.imported.claims import Claim, Names, claims
from vramledger.trial.imported.counted import Counted
from vramledger.trial.imported.failing import failed
from vramledger.trial.imported.fields import Fields
from vramledger.trial.imported.sources import Source
from vramledger.trial.imported.told import Benchmark, Told

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

TITLE: Final = "GuideLLM"
LOOKED_FOR: Final = "metadata.guidellm_version, benchmarks"
_TABLE_HEAD: Final = "Run Info"
_VERSION: Final = 2
_RATES: Final = 1e-4  # times no further apart than 0.1 ms count as one
_GROUPS: Final = ("successful", "errored", "incomplete")
_SCHEDULED: Final = frozenset({"trace", "constant", "poisson", "async", "replay"})
_MISSING: Final = {
    "headers_s": "the file has no such moment",
    "first_role_s": "the file has no such moment",
    "chunk_offset_us": "the file has no times between the first and the last token, so there is no ITL",
    "chunk_tokens": "the file has no times between the first and the last token",
    "http_status": "told only where the words of a failure hold it",
}
_NO_SCHEDULE: Final = (
    "stands for when it was sent: requests followed each other and had no time of their own"
)
DEFINITIONS: Final = {
    "TTFT": "from when a worker begins the request, by the wall clock, to the first message that counts a token",
    "ITL": "from the first to the last token, over the tokens less one: a mean a request, weighted by those tokens",
    "TPOT": "from the beginning to the last token, over all tokens: TTFT is in it; weighted by tokens",
    "E2E": "from the beginning to the end of the response",
    "throughput": "of successes, over the measured time; how it varied in that time is not worked out again here",
    "percentile": "the least value that the share does not exceed; successes alone",
}


def looks(source: Source) -> bool:
    """Whether it is one, or its table of figures."""
    return _is_table(source) or _is_report(source)


def _is_table(source: Source) -> bool:
    return bool(source.table) and source.table[0][:1] == (_TABLE_HEAD,)


def _is_report(source: Source) -> bool:
    found = source.document
    return (
        isinstance(found, dict)
        and isinstance(found.get("benchmarks"), list)
        and isinstance(found.get("metadata"), dict)
        and "guidellm_version" in found["metadata"]
    )


def read(sources: tuple[Source, ...]) -> Iterator[Benchmark]:
    """One a benchmark of every file."""
    reports = [each for each in sources if _is_report(each)]
    if not reports:
        raise BadInput(
            f"{sources[0].path} is GuideLLM's table of figures without its requests; name benchmarks.json of the same folder."
        )
    for source in reports:
        top = Fields(source.document, str(source.path))
        head = top.part("metadata")
        version = head.tokens("version")
        if version != _VERSION:
            raise BadInput(
                f"{source.path} is a GuideLLM report of schema {version}, and schema {_VERSION} is read here; write it anew with "
                "GuideLLM 0.7 or later."
            )
        benchmarks = top.rows("benchmarks")
        if not benchmarks:
            raise BadInput(f"{source.path} has no benchmark in it; run GuideLLM again.")
        if source.length("benchmarks") > len(benchmarks):
            raise BadInput(
                f"{source.path} has {source.length('benchmarks'):,} benchmarks, and {len(benchmarks)} are read of a file; split it."
            )
        labels = top.part("config").part("metadata").part("labels")
        for number, each in enumerate(benchmarks):
            found = Fields(each, f"{source.path}, benchmarks[{number}]")
            about = partial(_told, found, head.text("guidellm_version"), labels.text("origin"))
            yield _benchmark(source, number, found, about)


def _benchmark(
    source: Source, number: int, found: Fields, told: Callable[[Counted, float], Told]
) -> Benchmark:
    requests = found.part("requests")
    first = next(((group, rows[0]) for group in _GROUPS if (rows := requests.rows(group))), None)
    if first is None:
        raise BadInput(f"{found.where} has no request in it; let GuideLLM keep its requests.")
    group, row = first
    base = _moments(Fields(row, f"{found.where}, requests.{group}[0]"), scheduled=_scheduled(found))
    return Benchmark(TITLE, base, records=partial(_records, source, number, found, base), told=told)


def _scheduled(found: Fields) -> bool:
    return (found.part("config").part("strategy").text("type_") or "") in _SCHEDULED


def _records(source: Source, number: int, found: Fields, base: float) -> Iterator[RequestRecord]:
    """Of the benchmark of that number, group after group."""
    taken: set[str] = set()
    for place, (group, row) in enumerate(_rows(source, number, found)):
        name = row.text("request_id")
        if name is not None and name in taken:
            raise BadInput(f"{row.where} is in the file twice; use an unchanged copy.")
        if name is not None:
            taken.add(name)
        yield _record(place, group, row, base, scheduled=_scheduled(found))


def _rows(source: Source, number: int, found: Fields) -> Iterator[tuple[str, Fields]]:
    """Requests with their group: of all lists of a group in the file, those of this benchmark's own."""
    for group in _GROUPS:
        if not isinstance(found.part("requests").mapping().get(group), list):
            continue
        at = f"benchmarks.item.requests.{group}"
        before = sum(_has_list(each, group) for each in source.document["benchmarks"][:number])
        start = sum(source.length(at, each) for each in range(before))
        rows = islice(source.values(f"{at}.item"), start, start + source.length(at, before))
        for place, each in enumerate(rows):
            yield group, Fields(each, f"{found.where}, requests.{group}[{place}]")


def _has_list(benchmark: Any, group: str) -> bool:
    requests = benchmark.get("requests") if isinstance(benchmark, dict) else None
    return isinstance(requests, dict) and isinstance(requests.get(group), list)


def _told(
    found: Fields, version: str | None, origin: str | None, counted: Counted, begun_s: float
) -> Told:
    strategy = found.part("config").part("strategy")
    all_told = found.part("metrics").part("request_totals").tokens("total")
    due = {} if _scheduled(found) else {"due_s": _NO_SCHEDULE}
    return Told(
        tool=TITLE,
        version=version,
        claims=tuple(_claims(found, counted)),
        missing=_MISSING | due,
        definitions=DEFINITIONS,
        model=found.part("config").part("backend").text("model"),
        endpoint=found.part("config").part("backend").text("request_format"),
        closed=strategy.tokens("streams"),
        zero_s=begun_s,
        ended_s=max(found.seconds("end_time") or begun_s, begun_s),
        unrecorded=max((all_told or 0) - counted.records, 0),
        claimed_origin=origin,
    )


def _timings(row: Fields) -> Fields:
    return row.part("info").part("timings")


def _sent(row: Fields) -> float | None:
    times = _timings(row)
    begun = times.seconds("request_start")
    return times.seconds("resolve_start") if begun is None else begun


def _moments(row: Fields, *, scheduled: bool) -> float:
    """The first moment of a request."""
    sent, due = _sent(row), _timings(row).seconds("targeted_start")
    told = [each for each in (sent, due if scheduled or sent is None else None) if each is not None]
    if not told:
        raise BadInput(f"{row.where} has no moment at which it began; use an unchanged copy of the file.")  # fmt: skip
    return min(told)


def _record(place: int, group: str, row: Fields, zero: float, *, scheduled: bool) -> RequestRecord:
    times = _timings(row)

    def moment(name: str) -> float | None:
        value = times.seconds(name)
        return None if value is None else value - zero

    sent = _sent(row)
    done = moment("request_end")
    known: dict[str, Any] = {
        "request_id": place,
        "row": place,
        "due_s": _moments(row, scheduled=scheduled) - zero,
        "dispatched_s": None if sent is None else sent - zero,
        "first_byte_s": moment("first_request_iteration"),
        "first_content_s": moment("first_token_iteration"),
        "first_answer_s": moment("first_output_token_iteration"),
        "last_content_s": moment("last_token_iteration"),
        "done_s": moment("resolve_end") if done is None else done,
        "server_request_id": row.text("response_id"),
        "input_tokens_got": _tokens(row, "input_metrics"),
        "cached_tokens": row.part("input_metrics").tokens("cached_tokens"),
    }
    return RequestRecord(**known, **_ending(group, row))


def _ending(group: str, row: Fields) -> dict[str, Any]:
    tokens = _tokens(row, "output_metrics")
    if tokens is None:
        tokens = _timings(row).tokens("token_iterations") or None
        basis = "chunks"
    else:
        basis = "usage"
    known = {"output_tokens_got": tokens, "tokens_basis": None if tokens is None else basis}
    if group == "successful":
        return {**known, "outcome": Outcome.OK}
    if group == "incomplete":
        return {**known, "outcome": Outcome.INCOMPLETE, "error_class": "run_ended"}
    found = failed(row.part("info").text("error") or "")
    return {
        **known,
        "outcome": found.outcome,
        "error_class": found.error_class,
        "http_status": found.status,
    }


def _tokens(row: Fields, side: str) -> int | None:
    metrics = row.part(side)
    whole = metrics.tokens("total_tokens")
    return metrics.tokens("text_tokens") if whole is None else whole


def _claims(about: Fields, found: Counted) -> Iterator[Claim]:
    import numpy as np

    metrics, tokens = about.part("metrics"), found.tokens
    many = np.where(np.isnan(tokens), 0.0, tokens)
    figures: tuple[tuple[str, str, float, Detail | None], ...] = (
        ("time_to_first_token_ms", "TTFT", 1e-3, _detail(found.first_s)),
        ("inter_token_latency_ms", "ITL (mean of a request)", 1e-3,
         weighted_detail(found.per_gap(found.first_s), np.maximum(many - 1, 0))),
        ("time_per_output_token_ms", "TPOT (with TTFT)", 1e-3,
         weighted_detail(found.last_s / np.where(many >= 1, many, np.nan), many)),
        ("request_latency", "E2E", 1.0, _detail(found.end_s)),
    )  # fmt: skip
    for key, title, factor, ours in figures:
        told = metrics.part(key).part("successful")
        if not told.tokens("count"):
            continue
        yield from claims(told.mapping(), Names(title, "s", factor, {"mean": "mean"}), ours)
        shares = {name: name for name in ("p50", "p90", "p95", "p99")}
        yield from claims(told.part("percentiles").mapping(), Names(title, "s", factor, shares), ours)  # fmt: skip
    yield from _rates(about, found)
    successes = metrics.part("request_totals").tokens("successful")
    if successes is not None:
        yield Claim("successes", "requests", float(successes), float(found.successes))


def _detail(values: "Floats") -> Detail | None:
    """As GuideLLM sums up shares, so that a percentile on the edge of two values falls to the same of them."""
    import numpy as np

    return weighted_detail(values, np.ones(len(values)))


def _rates(about: Fields, found: Counted) -> Iterator[Claim]:
    """Means over the measured time: the sum of rates times how long each lasted is what came in all.

    Where requests were cut off the time (a warm-up, a cool-down), tokens of those at its edges count in part, which the file does not tell.
    """
    import numpy as np

    seconds = about.seconds("duration")
    cut = any(about.seconds(name) for name in ("warmup_duration", "cooldown_duration"))
    for key, title, unit, total in (
        ("requests_per_second", "throughput requests", "1/s", float(found.successes)),
        ("output_tokens_per_second", "throughput output tokens", "tokens/s", float(np.nansum(found.tokens))),
    ):  # fmt: skip
        told = about.part("metrics").part(key).part("successful").seconds("mean")
        if told is not None and seconds:
            yield Claim(title, unit, told, None if cut else total / seconds, _RATES)
