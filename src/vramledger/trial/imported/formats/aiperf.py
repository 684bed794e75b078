"""AIPerf's ``profile_export.jsonl``, a request a line, with ``profile_export_aiperf.json``, the aggregate, beside it.

https://github.com/ai-dynamo/aiperf: `common/models/record_models.py`, `export_models.py` (schema 1.4), formulas in
`metrics/types/`. Latencies are of successes from when they were sent; `credit_issued_ns` is when a request was let go.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.conduct.detail import detail
from vramledger.trial.imported.claims import Claim, Names, claims
from vramledger.trial.imported.counted import Counted, counted
from vramledger.trial.imported.failing import failed
from vramledger.trial.imported.fields import Fields, time_of
from vramledger.trial.imported.sources import Source
from vramledger.trial.imported.told import Told

TITLE: Final = "AIPerf"
LOOKED_FOR: Final = "lines with metadata.request_start_ns and metrics"
_NS: Final = 1e-9
_MS: Final = 1e-3
_SLACK: Final = 1e-6
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
    return _is_records(source) or _is_aggregate(source)


def _is_records(source: Source) -> bool:
    if source.lines is None:
        found = source.document
    else:
        found = next((value for _, value in source.objects()), None)
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


def read(sources: tuple[Source, ...]) -> Iterator[Told]:
    """One of the two files, which belong together."""
    records = [each for each in sources if _is_records(each)]
    aggregates = [each for each in sources if _is_aggregate(each)]
    if not records:
        raise BadInput(
            f"{sources[0].path} is AIPerf's aggregate without its requests; name profile_export.jsonl of the same folder too."
        )
    if len(records) > 1 or len(aggregates) > 1:
        raise BadInput(
            f"{sources[-1].path} is of another AIPerf run than {sources[0].path}; import one run at a time."
        )
    yield _told(records[0], aggregates[0] if aggregates else None)


def _told(source: Source, aggregate: Source | None) -> Told:
    about = Fields({} if aggregate is None else aggregate.document, str(aggregate.path if aggregate else source.path))  # fmt: skip
    schema = about.text("schema_version")
    if schema is not None and not schema.startswith(_SCHEMA):
        raise BadInput(
            f"{about.where} is an AIPerf aggregate of schema {schema}, and schemas {_SCHEMA}x are read here; write it anew "
            "with AIPerf 0.13."
        )
    objects = [(0, source.document)] if source.lines is None else list(source.objects())
    rows = [Fields(value, f"{source.path}:{number}") for number, value in objects]
    begun = [_begun(each) for each in rows]
    zero, let_go = min(begun), all(_credit(each) is not None for each in rows)
    records = tuple(_record(place, row, zero) for place, row in enumerate(rows))
    taken = [each.request_id for each in records]
    if len(set(taken)) < len(taken):
        raise BadInput(f"{source.path} has two lines of one request; use an unchanged copy.")
    models = about.part("input_config").part("models").rows("items")
    endpoint = about.part("input_config").part("endpoint")
    return Told(
        tool=TITLE,
        version=about.text("aiperf_version"),
        records=records,
        claims=tuple(_claims(about, counted(records))),
        missing=_MISSING if let_go else _MISSING | {"due_s": _NOT_DUE},
        definitions=DEFINITIONS,
        model=Fields(models[0], about.where).text("name") if len(models) == 1 else None,
        endpoint=endpoint.text("type"),
        zero_s=zero,
        ended_s=zero + max(each.done_s or 0.0 for each in records),
        claimed_origin=about.text("origin"),
        notes=() if aggregate is not None else (
            "The aggregate was not given, so there are no headline figures to hold these against; profile_export_aiperf.json has them.",
        ),
    )  # fmt: skip


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
    figures = {
        "time_to_first_token": ("TTFT", found.first_s),
        "inter_token_latency": ("ITL (mean of a request)", found.per_gap(found.first_s)),
        "inter_chunk_latency": ("ICL", found.gaps_s),
        "request_latency": ("E2E", found.last_s),
    }
    for key, (title, values) in figures.items():
        told = about.part(key).mapping()
        yield from claims(told, Names(title, "s", _MS, _STATISTICS), detail(values, "linear"))
    yield from _rates(about, found)


def _rates(about: Fields, found: Counted) -> Iterator[Claim]:
    import numpy as np

    count, tokens = float(len(found.tokens)), float(np.nansum(found.tokens))
    seconds, slack = _observed(about, found)
    for key, title, unit, value in (
        ("request_count", "successes", "requests", count),
        ("request_throughput", "throughput requests", "1/s", count / seconds),
        ("output_token_throughput", "throughput output tokens", "tokens/s", tokens / seconds),
        ("benchmark_duration", "duration", "s", found.span_s),
    ):
        told = about.part(key).seconds("avg")
        if told is not None:
            yield Claim(title, unit, told, None if np.isnan(value) else value, slack)


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
