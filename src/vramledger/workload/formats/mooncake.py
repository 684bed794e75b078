"""Mooncake: requests of Moonshot AI's Kimi, with the prefix blocks of their prompts.

`timestamp` counts milliseconds from the start; each of `hash_ids` stands for 512 tokens and all before
them, the last one also for a partly filled block. Ids of two files have nothing to do with each other.
Source: https://github.com/kvcache-ai/Mooncake (README, "Open Source Trace").
"""

from typing import Final

from vramledger.workload.fields import MILLISECOND, nanoseconds, whole_number
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.formats.parts.block_size import consistent_sizes
from vramledger.workload.formats.parts.prefix_ids import prefix_ids
from vramledger.workload.raw import RawRequest

_BLOCK: Final = 512
_FIELDS: Final = ("timestamp", "input_length", "output_length", "hash_ids")


def _recognise(head: Head) -> bool:
    """Exactly its four fields, whole milliseconds, and lists of ids that 512 tokens an id explain."""
    records = [each for each in head.records if each.keys() == set(_FIELDS)]
    decimals = any(isinstance(each["timestamp"], float) for each in records)
    return bool(records) and not decimals and _BLOCK in consistent_sizes(records)


def _row(record: Record, _context: Context) -> RawRequest:
    values = record.values
    return RawRequest(
        line=record.line,
        arrival_ns=nanoseconds(values.get("timestamp"), "timestamp", MILLISECOND),
        input_tokens=whole_number(values.get("input_length"), "input_length"),
        output_tokens=whole_number(values.get("output_length"), "output_length"),
        prefix_ids=prefix_ids(values.get("hash_ids"), "hash_ids"),
    )


FORMAT: Final = LogFormat(
    name="mooncake",
    title="Mooncake trace (hash ids of 512 tokens)",
    framings=(Framing.JSONL, Framing.JSON),
    clock=Clock.RELATIVE,
    recognise=_recognise,
    parser=row_by_row(_row),
    block_tokens=_BLOCK,
    lacks=("It names no sessions, models or failures.",),
    source="https://github.com/kvcache-ai/Mooncake",
    per_file=True,
)
