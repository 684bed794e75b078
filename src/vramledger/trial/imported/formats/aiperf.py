"""AIPerf's ``profile_export.jsonl``, a request a line, with ``profile_export_aiperf.json`` (or ``.csv``), the aggregate, beside it.

https://github.com/ai-dynamo/aiperf: `common/models/record_models.py`, `export_models.py` (schema 1.4), formulas in
`metrics/types/`. Latencies are of successes from when they were sent; `credit_issued_ns` is when a request was let go.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.conduct.detail import Detail, detail
from vramledger.trial.imported.claims import Claim, Names, claims
from vramledger.trial.imported.counted import Counted
from vramledger.trial.imported.failing import failed
from vramledger.trial.imported.fields import Fields, time_of
from vramledger.trial.imported.formats.aiperf_table import ROUNDED, aggregate_of, is_table
from vramledger.trial.imported.gap_figures import detail_of_gaps
from vramledger.trial.imported.sources import Source
from vramledger.trial.imported.told import Benchmark, Told

TITLE: Final = "AIPerf"
LOOKED_FOR: Final = "lines with metadata.request_start_ns and metrics"
_NS: Final = 1e-9
_MS: Final = 1e-3
_SLACK: Final = 1e-6
_OVER_PHASE: Final = ("request_throughput", "output_token_throughput")
_SCHEMA: Final = "1."
_PROFILING: Final = "profiling"
_STATISTICS: Final = {"mean": "avg", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99"}
_MISSING: Final = {
    "first_byte_s": "the file has no such moment",
    "first_role_s": "the file has no such moment",
    "last_content_s": "from the latency told, of successes alone",
    "chunk_tokens": "the file has times of chunks, not what they held",
    "cached_tokens": "told only where the server tells AIPerf",
    "input_tokens_got": "as the client's tokenizer counted the prompt, unless AIPerf was told to use the server's count",
}
_NOT_DUE: Final = "stands for when it was sent: the file does not tell when requests were let go"
_ALONE: Final = "The aggregate was not given, so there are no headline figures to hold these against; profile_export_aiperf.json has them."
_TABLE: Final = "figures of a table"
_ROUNDED_AWAY: Final = (
    "The headline figures are of the table, which has two decimals and does not tell when its phase began, so that rates are not "
    "held against the requests; profile_export_aiperf.json tells it."
)
DEFINITIONS: Final = {
    "TTFT": "from before the request is sent to the first content that is not empty",
    "ITL": "from the first to the last token, over the tokens less one: a mean a request, what is TPOT here",
    "ICL": "every time between two chunks with content, what is ITL here",
    "E2E": "from before the request is sent to the last content",
    "throughput": "of successes, over the phase from its begin to its end, the wait for the first and the last request included",
    "percentile": "between two values (linear); successes alone",
}


def looks(source: Source) -> bool:
    """Whether it is either file."""
    return _is_records(source) or _is_aggregate(source) or is_table(source)


def _is_records(source: Source) -> bool:
    found = source.document
    return (
        isinstance(found, dict)
        and isinstance(found.get("metadata"), dict)
        and "request_start_ns" in found["metadata"]
    )


def _is_aggregate(source: Source) -> bool:
    found = source.document
    return (
        isinstance(found, dict)
        and "schema_version" in found
        and ("request_latency" in found or "error_request_count" in found)
    )


def read(sources: tuple[Source, ...]) -> Iterator[Benchmark]:
    """One of the two files, which belong together."""
    records = [each for each in sources if _is_records(each)]
    aggregates = [each for each in sources if _is_aggregate(each)] or [
        each for each in sources if is_table(each)
    ]
    if not records:
        raise BadInput(
            f"{sources[0].path} is AIPerf's aggregate without its requests; name profile_export.jsonl of the same folder too."
        )
    if len(records) > 1 or len(aggregates) > 1:
        raise BadInput(
            f"{sources[-1].path} is of another AIPerf run than {sources[0].path}; import one run at a time."
        )
    about = _about(records[0], aggregates[0] if aggregates else None)
    rows = _rows(records[0])
    base, let_go = _begun(next(rows)), all(_credit(each) is not None for each in rows)
    yield Benchmark(
        TITLE,
        base,
        records=partial(_records, records[0], base),
        told=partial(_told, about, let_go=let_go, notes=tuple(_notes(aggregates))),
    )


def _about(records: Source, aggregate: Source | None) -> Fields:
    """The aggregate, or nothing in its place."""
    if aggregate is None:
        return Fields({}, str(records.path))
    if aggregate.table:
        return Fields({_TABLE: True, **aggregate_of(aggregate)}, str(aggregate.path))
    about = Fields(aggregate.document, str(aggregate.path))
    schema = about.text("schema_version")
    if schema is not None and not schema.startswith(_SCHEMA):
        raise BadInput(
            f"{about.where} is an AIPerf aggregate of schema {schema}, and schemas {_SCHEMA}x are read here; write it anew "
            "with AIPerf 0.13."
        )
    return about


def _notes(aggregates: list[Source]) -> Iterator[str]:
    if not aggregates:
        yield _ALONE
    elif aggregates[0].table:
        yield _ROUNDED_AWAY


def _rows(source: Source) -> Iterator[Fields]:
    for number, value in source.objects():
        yield Fields(value, f"{source.path}:{number}")


def _records(source: Source, base: float) -> Iterator[RequestRecord]:
    taken: set[str] = set()
    for place, row in enumerate(_rows(source)):
        name = row.part("metadata").text("x_request_id")
        if name is not None and name in taken:
            raise BadInput(f"{row.where} is of a request that an earlier line is of; use an unchanged copy.")  # fmt: skip
        if name is not None:
            taken.add(name)
        yield _record(place, row, base)


def _told(
    about: Fields, found: Counted, begun_s: float, *, let_go: bool, notes: tuple[str, ...]
) -> Told:
    models = about.part("input_config").part("models").rows("items")
    endpoint = about.part("input_config").part("endpoint")
    return Told(
        tool=TITLE,
        version=about.text("aiperf_version"),
        claims=tuple(_claims(about, found)),
        missing=_MISSING if let_go else _MISSING | {"due_s": _NOT_DUE},
        definitions=DEFINITIONS,
        model=Fields(models[0], about.where).text("name") if len(models) == 1 else None,
        endpoint=endpoint.text("type"),
        zero_s=begun_s,
        ended_s=begun_s + found.ended_s,
        claimed_origin=about.text("origin"),
        notes=notes,
    )


def _credit(row: Fields) -> float | None:
    return row.part("metadata").seconds("credit_issued_ns", _NS)


def _begun(row: Fields) -> float:
    sent = row.part("metadata").seconds("request_start_ns", _NS)
    if sent is None:
        raise BadInput(f"{row.where} has no request_start_ns; use an unchanged copy of the file.")
    credit = _credit(row)
    return sent if credit is None else min(credit, sent)


def _record(place: int, row: Fields, zero: float) -> RequestRecord:
    head = row.part("metadata")
    warm_up = (head.text("benchmark_phase") or _PROFILING) != _PROFILING
    start = head.seconds("request_start_ns", _NS) or 0.0
    acknowledged, end = (head.seconds(name, _NS) for name in ("request_ack_ns", "request_end_ns"))
    known: dict[str, Any] = {
        "request_id": -1 - place if warm_up else place,
        "row": None if warm_up else place,
        "due_s": _begun(row) - zero,
        "dispatched_s": start - zero,
        "headers_s": None if acknowledged is None else acknowledged - zero,
        "done_s": None if end is None else max(end - zero, start - zero),
        "server_request_id": head.text("x_request_id"),
    }
    if head.mapping().get("was_cancelled"):
        return RequestRecord(**known, **_asked(row), outcome=Outcome.CANCELLED)
    if row.mapping().get("error"):
        error = row.part("error")
        found = failed(error.text("message") or error.text("type") or "", error.tokens("code"))
        told: dict[str, Any] = {
            "outcome": found.outcome,
            "error_class": found.error_class,
            "http_status": found.status,
        }
        return RequestRecord(**known, **_asked(row), **told)
    return RequestRecord(**(known | _answered(row, start - zero, known["done_s"])))


def _asked(row: Fields) -> dict[str, Any]:
    return {"input_tokens_asked": row.part("metrics").part("error_isl").tokens("value")}


def _answered(row: Fields, sent: float, done: float | None) -> dict[str, Any]:
    metrics = row.part("metrics")
    ttft, latency, answer = (
        metrics.part(name).seconds("value", _MS)
        for name in ("time_to_first_token", "request_latency", "time_to_first_output_token")
    )
    tokens = metrics.part("output_sequence_length").tokens("value")
    last = None if latency is None else sent + latency
    first = None if ttft is None else sent + ttft
    return {
        "first_content_s": first,
        "first_answer_s": None if answer is None else sent + answer,
        "last_content_s": last,
        "done_s": last if done is None or (last is not None and last > done) else done,
        "chunk_offset_us": None if first is None else _offsets(metrics.part("inter_chunk_latency")),
        "input_tokens_got": metrics.part("input_sequence_length").tokens("value"),
        "output_tokens_got": tokens,
        "tokens_basis": None if tokens is None else "tokenizer",
        "cached_tokens": metrics.part("usage_prompt_cache_read_tokens").tokens("value"),
        "outcome": Outcome.OK,
    }


def _offsets(told: Fields) -> list[int]:
    """Chunks by their gaps; a request without gaps has one chunk."""
    offsets, seconds = [0], 0.0
    for gap in told.rows("value"):
        step = time_of(gap, _MS, f"{told.where}, value")
        if step < 0:
            raise BadInput(f"{told.where} has a time below 0; use an unchanged copy of the file.")
        seconds += step
        offsets.append(round(seconds * 1e6))
    return offsets


def _claims(about: Fields, found: Counted) -> Iterator[Claim]:
    figures: dict[str, tuple[str, Detail | None]] = {
        "time_to_first_token": ("TTFT", detail(found.first_s, "linear")),
        "inter_token_latency": ("ITL (mean of a request)", detail(found.per_gap(found.first_s), "linear")),
        "inter_chunk_latency": ("ICL", detail_of_gaps(found.gaps)),
        "request_latency": ("E2E", detail(found.last_s, "linear")),
    }  # fmt: skip
    for key, (title, ours) in figures.items():
        names = Names(title, "s", _MS, _STATISTICS, _rounding(about))
        yield from claims(about.part(key).mapping(), names, ours)
    yield from _rates(about, found)


def _rounding(about: Fields) -> float:
    return ROUNDED if about.has(_TABLE) else 0.0


def _rates(about: Fields, found: Counted) -> Iterator[Claim]:
    import numpy as np

    count, tokens = float(found.successes), float(np.nansum(found.tokens))
    seconds, slack = _observed(about, found)
    for key, title, unit, value in (
        ("request_count", "successes", "requests", count),
        ("request_throughput", "throughput requests", "1/s", count / seconds),
        ("output_token_throughput", "throughput output tokens", "tokens/s", tokens / seconds),
        ("benchmark_duration", "duration", "s", found.span_s),
    ):
        told = about.part(key).seconds("avg")
        if told is not None:
            unknown = np.isnan(value) or (about.has(_TABLE) and key in _OVER_PHASE)
            yield Claim(title, unit, told, None if unknown else value, slack, _rounding(about))


def _observed(about: Fields, found: Counted) -> tuple[float, float]:
    """The seconds that rates are over, and what the rounding of their ends may move them by, as a share.

    From the begin of the phase to its end where AIPerf itself wrote the file (`observation_duration`), else over the successes.
    """
    moments = [about.text(name) for name in ("start_time", "end_time")]
    if about.text("aiperf_version") is None or None in moments:
        return found.span_s, _SLACK
    try:
        start, end = (datetime.fromisoformat(each or "") for each in moments)
        seconds = (end - start).total_seconds()
    except (ValueError, TypeError):
        raise BadInput(
            f"{about.where} has a start_time or an end_time that is no moment; use an unchanged copy of the file."
        ) from None
    return (seconds, max(_SLACK, 2e-6 / seconds)) if seconds > 0 else (found.span_s, _SLACK)
