"""OpenAI's organisation usage: completions by bucket of 1 minute, 1 hour or 1 day.

Source: https://platform.openai.com/docs/api-reference/usage/completions

A bucket tells how many requests there were and how many tokens together: rates and means, no
lengths. Each result becomes that many equal requests, evenly spread over the bucket, whose tokens
add up to the bucket's own.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from vramledger.workload.fields import number, whole_number
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.formats.parts.embedded import first_text
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns

_COUNT: Final = "num_model_requests"
_MOST_REQUESTS: Final = 100_000_000  # in one bucket
_SAID: Final = (
    "The log holds totals by bucket: requests are spread evenly over each bucket and all have its "
    "mean lengths, so that rates and means are the log's and every percentile is not (inferred)."
)

_BATCH: Final = (
    "Some buckets are of the Batch API, whose requests nobody waits for; they stand among the others, as "
    "evenly spread (inferred)."
)


def _recognise(head: Head) -> bool:
    return any(
        isinstance(result, Mapping) and _COUNT in result
        for record in head.records
        for bucket in _buckets(record)
        for result in _results(bucket)
    )


def _buckets(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A record is a page of buckets, or one bucket of a page."""
    data = values.get("data")
    if isinstance(data, list):
        return [bucket for bucket in data if isinstance(bucket, Mapping)]
    return [values]


def _results(bucket: Mapping[str, Any]) -> list[Any]:
    """The results of a bucket; older pages called them `result`."""
    found = bucket.get("results", bucket.get("result"))
    return found if isinstance(found, list) else []


def _rows(record: Record) -> Iterable[Record]:
    """The results of every bucket, each with its bucket's time."""
    rows = [
        Record(record.line, {"bucket": bucket, "result": result})
        for bucket in _buckets(record.values)
        for result in _results(bucket)
    ]
    if not rows:
        raise RowProblem("bucket holds no requests")
    return rows


def _row(record: Record, context: Context) -> RawRequest:
    bucket, result = record.values["bucket"], record.values["result"]
    if not isinstance(result, Mapping) or _COUNT not in result:
        raise RowProblem("bucket is of another kind of usage")
    requests = _total(result.get(_COUNT), _COUNT)
    if requests > _MOST_REQUESTS:
        raise RowProblem(f"{_COUNT} is beyond any bucket")
    if requests == 0:
        raise RowProblem("bucket holds no requests")
    start = moment_ns(bucket.get("start_time"), "start_time", context)
    end = moment_ns(bucket.get("end_time"), "end_time", context)
    if end <= start:
        raise RowProblem("end_time is not after start_time")
    inputs = _total(result.get("input_tokens"), "input_tokens")
    outputs = _total(result.get("output_tokens"), "output_tokens")
    cached = _total(result.get("input_cached_tokens") or 0, "input_cached_tokens")
    context.infer(_SAID)
    if result.get("batch") is True:
        context.infer(_BATCH)
    return RawRequest(
        line=record.line,
        arrival_ns=start,
        input_tokens=whole_number(inputs // requests, "mean input tokens"),
        output_tokens=whole_number(outputs // requests, "mean output tokens"),
        cached_tokens=min(cached, inputs) // requests,
        tenant=first_text(
            result.get("project_id"), result.get("user_id"), result.get("api_key_id")
        ),
        model=first_text(result.get("model")),
        repeat=requests,
        spread_ns=end - start,
        input_remainder=inputs % requests,
        output_remainder=outputs % requests,
    )


def _total(value: Any, name: str) -> int:
    """A total, which may be beyond any single request's count.

    Raises:
        RowProblem: missing, no number, negative or not whole.
    """
    found = number(value, name)
    if found < 0:
        raise RowProblem(f"{name} is negative")
    if found != int(found):
        raise RowProblem(f"{name} is not a whole number")
    return int(found)


FORMAT: Final = LogFormat(
    name="openai-usage",
    title="OpenAI organisation usage (buckets)",
    framings=(Framing.JSON, Framing.JSONL),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    rows=_rows,
    lacks=(
        "It holds no single requests: no lengths, sessions, prefixes, durations or failures.",
        "Cached tokens are means, rounded down.",
    ),
    source="https://platform.openai.com/docs/api-reference/usage/completions",
)
