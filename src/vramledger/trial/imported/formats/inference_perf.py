"""inference-perf's ``per_request_lifecycle_metrics.json`` with ``summary_lifecycle_metrics.json`` beside it.

https://github.com/kubernetes-sigs/inference-perf: `inference_perf/reportgen/base.py` (0.7). A chunk's text is tokenized again, and
every one of its tokens has the chunk's time: gaps inside a chunk are 0. Moments are of a monotonic clock.
"""

from collections.abc import Iterator
from functools import partial
from itertools import groupby, pairwise
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.record.gap_counts import GapCounts
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.conduct.detail import detail
from vramledger.trial.imported.claims import Claim, Names, claims
from vramledger.trial.imported.counted import Counted
from vramledger.trial.imported.failing import failed
from vramledger.trial.imported.fields import Fields, time_of
from vramledger.trial.imported.gap_figures import detail_of_gaps, with_more
from vramledger.trial.imported.sources import Source
from vramledger.trial.imported.told import Benchmark, Told

TITLE: Final = "inference-perf"
LOOKED_FOR: Final = "a list with start_time, end_time and info, or successes with load_summary"
_STATISTICS: Final = {"mean": "mean", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99"}
_MISSING: Final = {
    "due_s": "stands for when it was sent: the file does not tell the schedule of single requests",
    "headers_s": "the file has no such moment",
    "first_byte_s": "the file has no such moment",
    "first_role_s": "the file has no such moment",
    "first_answer_s": "the file does not tell thinking from the answer",
    "cached_tokens": "the file does not tell of single requests",
    "server_request_id": "the file does not name requests",
}
DEFINITIONS: Final = {
    "TTFT": "from when a worker begins the request to the first chunk with text; of answers of two tokens or more",
    "ITL": "every time between two tokens, all requests together; tokens of one chunk are 0 apart",
    "TPOT": "from the first to the last token, over the tokens less one, a mean a request",
    "E2E": "from the beginning to the end of the response",
    "throughput": "of successes, from the first request begun to the last that ended, failures included",
    "percentile": "between two values (linear); successes alone",
}


def looks(source: Source) -> bool:
    """Whether it is the list of requests, or a summary."""
    return _is_records(source) or _is_summary(source)


def _is_records(source: Source) -> bool:
    found = source.document
    if not isinstance(found, list) or not found or not isinstance(found[0], dict):
        return False
    return {"start_time", "end_time"} <= found[0].keys() and ("info" in found[0] or "error" in found[0])  # fmt: skip


def _is_summary(source: Source) -> bool:
    found = source.document
    return isinstance(found, dict) and {"load_summary", "successes", "failures"} <= found.keys()


def read(sources: tuple[Source, ...]) -> Iterator[Benchmark]:
    """One of the files of one report."""
    records = [each for each in sources if _is_records(each)]
    summaries = [each for each in sources if _is_summary(each) and not _is_stage(each)]
    if not records:
        raise BadInput(
            f"{sources[0].path} is inference-perf's summary without its requests; set report.request_lifecycle.per_request and name "
            "per_request_lifecycle_metrics.json too."
        )
    if len(records) > 1 or len(summaries) > 1:
        raise BadInput(
            f"{sources[-1].path} is of another inference-perf run than {sources[0].path}; import one run at a time."
        )
    first = Fields(records[0].document[0], f"{records[0].path}, request 0")
    base = _moment(first, "start_time")
    yield Benchmark(
        TITLE,
        base,
        records=partial(_records, records[0], base),
        told=partial(_told, records[0], summaries[0] if summaries else None),
    )


def _is_stage(source: Source) -> bool:
    """A summary of one stage has the rate asked for."""
    return "requested_rate" in Fields(source.document, str(source.path)).part("load_summary").mapping()  # fmt: skip


def _records(source: Source, base: float) -> Iterator[RequestRecord]:
    for place, each in enumerate(source.values("item")):
        yield _record(place, Fields(each, f"{source.path}, request {place}"), base)


def _told(source: Source, summary: Source | None, found: Counted, _begun_s: float) -> Told:
    about = Fields({} if summary is None else summary.document, str((summary or source).path))
    total = (about.part("successes").tokens("count") or 0) + (about.part("failures").tokens("count") or 0)  # fmt: skip
    return Told(
        tool=TITLE,
        claims=tuple(_claims(about, found)),
        missing=_MISSING,
        definitions=DEFINITIONS,
        unrecorded=max(total - found.records, 0),
        notes=() if summary is not None else (
            "The summary was not given, so there are no headline figures to hold these against; summary_lifecycle_metrics.json has them.",
        ),
    )  # fmt: skip


def _moment(row: Fields, name: str) -> float:
    found = row.seconds(name)
    if found is None:
        raise BadInput(f"{row.where} has no {name}; use an unchanged copy of the file.")
    return found


def _record(place: int, row: Fields, zero: float) -> RequestRecord:
    sent, done = _moment(row, "start_time") - zero, _moment(row, "end_time") - zero
    info = row.part("info")
    prompt = info.part("request_metrics").part("text").tokens("input_tokens")
    known: dict[str, Any] = {
        "request_id": place,
        "row": place,
        "due_s": sent,
        "dispatched_s": sent,
        "done_s": done,
    }
    if row.mapping().get("error"):
        error = row.part("error")
        found = failed(f"{error.text('error_msg') or ''}\n{error.text('error_type') or ''}")
        return RequestRecord(
            **known, outcome=found.outcome, error_class=found.error_class, http_status=found.status
        )
    reply = info.part("response_metrics")
    usage = reply.part("server_usage")
    got, basis = usage.tokens("completion_tokens"), "usage"
    if got is None:
        got, basis = reply.tokens("output_tokens"), "tokenizer"
    told = usage.tokens("prompt_tokens")
    return RequestRecord(
        **known,
        **_streamed(reply, zero),
        input_tokens_got=prompt if told is None else told,
        output_tokens_got=got,
        tokens_basis=None if got is None else basis,
        outcome=Outcome.OK,
    )


def _streamed(reply: Fields, zero: float) -> dict[str, Any]:
    """Tokens that came at one moment are one chunk."""
    times = [time_of(each, 1.0, f"{reply.where}, output_token_times") for each in reply.rows("output_token_times")]  # fmt: skip
    if not times:
        return {}
    if any(b < a for a, b in pairwise(times)):
        raise BadInput(f"{reply.where}, output_token_times do not rise; use an unchanged copy of the file.")  # fmt: skip
    chunks = [(moment, len(list(same))) for moment, same in groupby(times)]
    return {
        "first_content_s": times[0] - zero,
        "last_content_s": times[-1] - zero,
        "chunk_offset_us": [round((moment - times[0]) * 1e6) for moment, _ in chunks],
        "chunk_tokens": [count for _, count in chunks],
    }


def _claims(about: Fields, found: Counted) -> Iterator[Claim]:
    several = found.streamed > 1
    successes = about.part("successes")
    latency = successes.part("latency")
    for key, title, values in (
        ("time_to_first_token", "TTFT", found.first_s[several]),
        ("time_per_output_token", "TPOT", found.per_gap(found.first_s)[several]),
        ("request_latency", "E2E", found.end_s),
    ):
        told = latency.part(key).mapping()
        yield from claims(told, Names(title, "s", 1.0, _STATISTICS), detail(values, "linear"))
    told = latency.part("inter_token_latency").mapping()
    yield from claims(told, Names("ITL", "s", 1.0, _STATISTICS), detail_of_gaps(_token_gaps(found)))  # fmt: skip
    if about.has("successes"):
        yield from _rates(successes, found)


def _token_gaps(found: Counted) -> GapCounts:
    """Times between tokens: those between chunks, and 0 inside each."""
    import numpy as np

    between = int(np.maximum(found.streamed - 1, 0).sum())
    inside = np.asarray([max(between - found.gaps.count, 0)], np.int64)
    return with_more(found.gaps, np.zeros(1, np.int64), inside)


def _rates(successes: Fields, found: Counted) -> Iterator[Claim]:
    import numpy as np

    seconds, count = found.ended_s - found.begun_s, float(found.successes)
    rates = successes.part("throughput")
    for key, title, unit, value in (
        ("requests_per_sec", "throughput requests", "1/s", count),
        ("output_tokens_per_sec", "throughput output tokens", "tokens/s", float(np.nansum(found.tokens))),
    ):  # fmt: skip
        told = rates.seconds(key)
        if told is not None and seconds > 0:
            yield Claim(title, unit, told, value / seconds)
    told_count = successes.tokens("count")
    if told_count is not None:
        yield Claim("successes", "requests", float(told_count), count)
