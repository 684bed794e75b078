"""The Azure LLM inference traces of 2023, 2024 and 2025.

Source: https://github.com/Azure/AzurePublicDataset (AzureLLMInferenceDataset2023.md, ...2024.md).
"""

from typing import Final

from vramledger.workload.fields import whole_number
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.raw import RawRequest
from vramledger.workload.timestamps import moment_ns

_COLUMNS: Final = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"}


def _recognise(head: Head) -> bool:
    return set(head.columns) >= _COLUMNS


def _row(record: Record, context: Context) -> RawRequest:
    values = record.values
    images = values.get("NumImages")
    return RawRequest(
        line=record.line,
        arrival_ns=moment_ns(values.get("TIMESTAMP"), "TIMESTAMP", context),
        input_tokens=whole_number(values.get("ContextTokens"), "ContextTokens"),
        output_tokens=whole_number(values.get("GeneratedTokens"), "GeneratedTokens"),
        images=None if images in (None, "") else whole_number(images, "NumImages"),
    )


FORMAT: Final = LogFormat(
    name="azure-llm",
    title="Azure LLM inference trace (2023, 2024, 2025)",
    framings=(Framing.CSV,),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=("It names no sessions, prefixes, models or failures.",),
    source="https://github.com/Azure/AzurePublicDataset",
)
