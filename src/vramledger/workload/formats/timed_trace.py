"""Traces of moments and lengths: vLLM's timed_trace, GuideLLM's trace_synthetic, Vidur, Splitwise.

One row a request with a moment, the tokens of its prompt and of its answer, and maybe prefix ids. Both
vLLM and GuideLLM let a user name the fields, so the usual names are recognised; others take --map.
A timestamp with decimals is in seconds (vLLM's and GuideLLM's default); a whole one in milliseconds, as
Mooncake and AIPerf write it, unless it is so large that it is a date.
Sources: https://docs.vllm.ai/en/latest/cli/bench/serve.html (--timed-trace-label-*,
--timed-trace-sec-multiplier), https://github.com/vllm-project/guidellm (docs/guides/trace_replay.md),
https://github.com/microsoft/vidur, https://github.com/Mutinifni/splitwise-sim.
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload.fields import MILLISECOND, SECOND, nanoseconds, number, whole_number
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
from vramledger.workload.formats.parts.block_size import consistent_sizes
from vramledger.workload.formats.parts.prefix_ids import prefix_ids
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns

_MOMENTS: Final = {  # name -> nanoseconds a unit; None: as the values look
    "timestamp": None,
    "arrived_at": SECOND,  # Vidur
    "arrival_timestamp": SECOND,  # Splitwise
    "arrival_time": SECOND,
    "arrival_s": SECOND,
    "arrival_ms": MILLISECOND,
    "timestamp_s": SECOND,
    "timestamp_ms": MILLISECOND,
}
_PROMPTS: Final = (
    "input_length", "input_tokens", "prompt_tokens", "prompt_len", "num_prefill_tokens",
    "prompt_size",
)  # fmt: skip
_ANSWERS: Final = (
    "output_length", "output_tokens", "completion_tokens", "output_len", "num_decode_tokens",
    "token_size",
)  # fmt: skip
_IDS: Final = "hash_ids"
_EARLIEST_DATE_S: Final = 1e8  # 1973: a smaller number counts from the trace's start


@frozen
class _Names:
    """Which field of a trace says what, and how its moments read."""

    moment: str
    prompt: str
    answer: str
    unit_ns: int | None  # None: dates
    block: int | None


def _recognise(head: Head) -> bool:
    return _names(head) is not None


def _names(head: Head) -> _Names | None:
    for fields in (set(head.columns), *(each.keys() for each in head.records)):
        found = [
            next((name for name in names if name in fields), None)
            for names in (_MOMENTS, _PROMPTS, _ANSWERS)
        ]
        moment, prompt, answer = found
        if moment is not None and prompt is not None and answer is not None:
            block = next(iter(consistent_sizes(head.records, prompt, _IDS)), None)
            return _Names(moment, prompt, answer, _unit(moment, head), block)
    return None


def _unit(moment: str, head: Head) -> int | None:
    """Nanoseconds of one unit of the moments; None where they are dates."""
    values = [each[moment] for each in head.records if each.get(moment) not in (None, "")]
    numbers = [each for each in values if _is_number(each)]
    early = [each for each in numbers if abs(float(each)) < _EARLIEST_DATE_S]
    if 2 * len(early) < len(values):  # a damaged row does not decide it
        return None
    known = _MOMENTS[moment]
    if known is not None:
        return known
    whole = all(isinstance(each, int) or "." not in str(each) for each in early)
    return MILLISECOND if whole else SECOND


def _is_number(value: Any) -> bool:
    try:
        number(value, "the moment")
    except RowProblem:
        return False
    return True


def _clock(head: Head) -> Clock:
    names = _names(head)
    return Clock.EPOCH if names is not None and names.unit_ns is None else Clock.RELATIVE


def _block_tokens(head: Head) -> int | None:
    names = _names(head)
    return None if names is None else names.block


def _parser(context: Context) -> Parser:
    names = _names(context.head)
    if names is None:  # --format timed-trace for a file that is none: each row says what it lacks
        names = _Names("timestamp", "input_length", "output_length", MILLISECOND, None)
    _say(names, context)

    def row(record: Record, context: Context) -> RawRequest:
        return _row(record, names, context)

    return RowParser(row, context)


def _say(names: _Names, context: Context) -> None:
    if names.moment == "timestamp" and names.unit_ns == MILLISECOND:
        context.assume(
            "Timestamps are whole numbers and taken as milliseconds (assumed); "
            "--map arrival_s=timestamp,input=...,output=... reads them as seconds."
        )
    elif names.moment == "timestamp" and names.unit_ns == SECOND:
        context.assume("Timestamps have decimals and are taken as seconds (assumed).")
    if names.block is not None:
        context.infer(
            f"A prefix id stands for {names.block} tokens, which explains the first rows (inferred)."
        )


def _row(record: Record, names: _Names, context: Context) -> RawRequest:
    values = record.values
    return RawRequest(
        line=record.line,
        arrival_ns=_moment(values, names, context),
        input_tokens=whole_number(values.get(names.prompt), names.prompt),
        output_tokens=whole_number(values.get(names.answer), names.answer),
        prefix_ids=None if names.block is None else prefix_ids(values.get(_IDS), _IDS),
    )


def _moment(values: Mapping[str, Any], names: _Names, context: Context) -> int:
    value = values.get(names.moment)
    if names.unit_ns is None:
        return moment_ns(value, names.moment, context)
    return nanoseconds(value, names.moment, names.unit_ns)


FORMAT: Final = LogFormat(
    name="timed-trace",
    title="vLLM timed_trace, GuideLLM trace_synthetic and other traces of moments and lengths",
    framings=(Framing.JSONL, Framing.JSON, Framing.CSV, Framing.PARQUET),
    clock=Clock.RELATIVE,
    clock_in=_clock,
    recognise=_recognise,
    parser=_parser,
    block_tokens_in=_block_tokens,
    lacks=("It names no sessions, models or failures.",),
    source="https://github.com/vllm-project/vllm/pull/39795",
    per_file=True,
)
