"""Baseten's completion traces (Parquet, or the same fields as JSON lines).

`timestamp_start_unix_ms` is the arrival; each of `total_hashes` stands for `block_size` tokens and all
before them. Source: https://docs.nvidia.com/aiperf/benchmark-modes/baseten-trace-replay.
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.record.outcome import Outcome
from vramledger.workload.fields import (
    MILLISECOND,
    nanoseconds,
    optional_duration_ns,
    optional_whole_number,
    part,
    whole_number,
)
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Parser,
    Record,
    RowParser,
)
from vramledger.workload.formats.parts.block_size import consistent_sizes, stated_size
from vramledger.workload.formats.parts.embedded import first_text
from vramledger.workload.formats.parts.prefix_ids import prefix_ids
from vramledger.workload.raw import RawRequest, RowProblem


def _recognise(head: Head) -> bool:
    return head.has("timestamp_start_unix_ms", "input_tokens", "output_tokens")


def _block_tokens(head: Head) -> int | None:
    """Of the first row that states it; else what explains the lengths."""
    explaining = consistent_sizes(head.records, "input_tokens", "total_hashes")
    return stated_size(head.records) or next(iter(explaining), None)


def _parser(context: Context) -> Parser:
    size = _block_tokens(context.head)
    return RowParser(lambda record, context: _row(record, size, context), context)


def _row(record: Record, size: int | None, context: Context) -> RawRequest:
    values = record.values
    start = nanoseconds(
        values.get("timestamp_start_unix_ms"), "timestamp_start_unix_ms", MILLISECOND
    )
    tokens = whole_number(values.get("input_tokens"), "input_tokens")
    duration = _passed(values, start, "duration_e2e_ms", "timestamp_end_unix_ms")
    outcome = _outcome(values.get("request_canceled"))
    return RawRequest(
        line=record.line,
        arrival_ns=start,
        input_tokens=tokens,
        output_tokens=whole_number(values.get("output_tokens"), "output_tokens"),
        cached_tokens=part(
            values.get("cached_tokens_reference"), "cached_tokens_reference", tokens, "input_tokens"
        ),
        duration_ns=duration,
        first_token_ns=_passed(values, start, "duration_ttft_ms", "timestamp_ttft_unix_ms"),
        outcome=outcome,
        cancel_after_ns=duration if outcome is Outcome.CANCELLED else None,
        session=first_text(values.get("provided_session_id"), values.get("poor_man_session_id")),
        tenant=first_text(values.get("org_id")),
        model=first_text(values.get("model_name")),
        prefix_ids=_ids(values, size, context),
    )


def _outcome(cancelled: Any) -> Outcome:
    """Of 0 or 1, or false or true."""
    if not isinstance(cancelled, int):
        return Outcome.UNKNOWN
    return Outcome.CANCELLED if cancelled else Outcome.OK


def _passed(values: Mapping[str, Any], start_ns: int, duration: str, end: str) -> int | None:
    """A length of time that the row states itself or by its end."""
    if values.get(duration) is not None:
        return optional_duration_ns(values[duration], duration, MILLISECOND)
    if values.get(end) is None:
        return None
    passed = nanoseconds(values[end], end, MILLISECOND) - start_ns
    if passed < 0:
        raise RowProblem(f"{end} is before timestamp_start_unix_ms")
    return passed


def _ids(values: Mapping[str, Any], size: int | None, context: Context) -> Any:
    ids = prefix_ids(values.get("total_hashes"), "total_hashes")
    if not ids:
        return None
    own = optional_whole_number(values.get("block_size"), "block_size")
    if size is None:
        context.infer("Prefix ids are left out: no row tells how many tokens one stands for.")
        return None
    if own not in (None, size):
        context.infer(
            "Prefix ids of rows with another block size than the first row's are left out (inferred)."
        )
        return None
    return ids


FORMAT: Final = LogFormat(
    name="baseten",
    title="Baseten completion trace (Parquet or JSON lines)",
    framings=(Framing.PARQUET, Framing.JSONL),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=_parser,
    block_tokens_in=_block_tokens,
    lacks=("It names no failures other than cancelled requests.",),
    source="https://docs.nvidia.com/aiperf/benchmark-modes/baseten-trace-replay",
)
