"""BurstGPT: requests to ChatGPT and GPT-4 from a campus, with failures as empty responses.

Six columns in the first releases; `Session ID` and `Elapsed time` come second and third in the later
ones, so columns are found by name. `Timestamp` counts seconds from 0:00 of the first day.
Source: https://github.com/HPMLL/BurstGPT.
"""

from typing import Final

from vramledger.record.outcome import Outcome
from vramledger.workload.fields import (
    SECOND,
    nanoseconds,
    optional_duration_ns,
    whole_number,
)
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
from vramledger.workload.raw import RawRequest


def _recognise(head: Head) -> bool:
    return head.has("Timestamp", "Model", "Request tokens", "Response tokens", "Log Type")


def _row(record: Record, context: Context) -> RawRequest:
    values = record.values
    output = whole_number(values.get("Response tokens"), "Response tokens")
    if output == 0:
        context.infer(
            "Rows with 0 response tokens are failures, as the trace's authors say (inferred)."
        )
    return RawRequest(
        line=record.line,
        arrival_ns=nanoseconds(values.get("Timestamp"), "Timestamp", SECOND),
        input_tokens=whole_number(values.get("Request tokens"), "Request tokens"),
        output_tokens=output,
        duration_ns=optional_duration_ns(values.get("Elapsed time"), "Elapsed time", SECOND),
        outcome=Outcome.OK if output else Outcome.FAILED,
        session=first_text(values.get("Session ID")),
        model=first_text(values.get("Model")),
    )


FORMAT: Final = LogFormat(
    name="burstgpt",
    title="BurstGPT trace (6 or 8 columns)",
    framings=(Framing.CSV,),
    clock=Clock.RELATIVE,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=(
        "Its times are whole seconds from the first day's midnight; which day of the week that was is not known.",
        "It names no prefixes, and sessions only in its later releases.",
    ),
    source="https://github.com/HPMLL/BurstGPT",
)
