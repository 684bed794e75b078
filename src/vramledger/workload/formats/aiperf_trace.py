"""AIPerf's mooncake_trace beyond Mooncake's four fields: texts, messages, sessions with delays.

A line has one of `input_length`, `text_input`, `messages` and `payload` (a whole request), and maybe
`timestamp` or `delay` (milliseconds), `output_length`, `hash_ids` (512 tokens each) and `session_id`.
Lines of one session are its turns; where they give lengths or texts, each brings only what is new, and
AIPerf puts the turns before in front of it. `messages` and `payload` hold the whole prompt.
A `delay` counts from the end of the turn before, which the trace does not tell.
Sources: https://docs.nvidia.com/aiperf/benchmark-modes/trace-replay-with-mooncake-traces,
https://docs.nvidia.com/aiperf/reference/conversation-context-mode.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from vramledger.workload.fields import (
    MILLISECOND,
    nanoseconds,
    optional_duration_ns,
    optional_whole_number,
    whole_number,
)
from vramledger.workload.formats.format import Clock, Context, Framing, Head, LogFormat, Record
from vramledger.workload.formats.parts.chat import limit_of, of_body
from vramledger.workload.formats.parts.embedded import first_text, mapping
from vramledger.workload.formats.parts.prefix_ids import prefix_ids
from vramledger.workload.raw import RawRequest, RowProblem

_INPUTS: Final = {"input_length", "text_input", "messages", "payload"}
_TIMING: Final = {"timestamp", "delay", "session_id", "output_length"}
_REST: Final = {"type", "message_mode", "tools", "hash_ids", "headers", "extra"}
_BLOCK: Final = 512


def _recognise(head: Head) -> bool:
    return any(_is_line(each.keys()) for each in head.records)


def _is_line(keys: Iterable[str]) -> bool:
    """Of its fields only, and more than a trace of plain moments and lengths would hold."""
    names = set(keys)
    plain = {"timestamp", "input_length", "output_length"} <= names and not names & {
        "session_id",
        "delay",
    }
    return bool(
        names <= _INPUTS | _TIMING | _REST and names & _INPUTS and names & _TIMING and not plain
    )


class _Sessions:
    """Turns in the order of the file; what was said before in a session is kept until the end."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._turns: dict[str, int] = {}
        self._tokens: dict[str, int] = {}
        self._texts: dict[str, list[str]] = {}
        self._arrivals: dict[str, int] = {}

    def parse(self, record: Record) -> Iterable[RawRequest]:
        values = record.values
        request = RawRequest(
            line=record.line,
            output_tokens=optional_whole_number(values.get("output_length"), "output_length"),
            think_ns=optional_duration_ns(values.get("delay"), "delay", MILLISECOND),
            session=first_text(values.get("session_id")),
        )
        request.arrival_ns = self._arrival(values, request)
        self._input(values, request)
        if request.session is not None:
            request.turn = self._turns.get(request.session, 0)
            self._turns[request.session] = request.turn + 1
            if request.arrival_ns is not None:
                self._arrivals[request.session] = request.arrival_ns
        return (request,)

    def finish(self) -> Iterable[RawRequest]:
        return ()

    def _arrival(self, values: Mapping[str, Any], request: RawRequest) -> int | None:
        if values.get("timestamp") is not None:
            return nanoseconds(values["timestamp"], "timestamp", MILLISECOND)
        before = self._arrivals.get(request.session or "")
        if before is None or request.think_ns is None:
            return None
        self._context.infer(
            "A turn with a delay was put that long after the arrival of the turn before, as if "
            "answers took no time (inferred)."
        )
        return before + request.think_ns

    def _input(self, values: Mapping[str, Any], request: RawRequest) -> None:
        if values.get("input_length") is not None:
            self._by_length(values, request)
        elif isinstance(values.get("text_input"), str):
            self._by_text(values["text_input"], request)
        else:
            self._whole(values, request)

    def _by_length(self, values: Mapping[str, Any], request: RawRequest) -> None:
        own = whole_number(values["input_length"], "input_length")
        ids = prefix_ids(values.get("hash_ids"), "hash_ids")
        before = self._tokens.get(request.session or "", 0)
        request.input_tokens = before + own
        request.prefix_ids = None if before else ids
        if before:
            self._context.infer(
                "Turns of a session bring what is new: the turns before them, with their answers, "
                "were added to their inputs, and their prefix ids left out (inferred)."
            )
        if request.session is not None:
            self._tokens[request.session] = before + own + (request.output_tokens or 0)

    def _by_text(self, text: str, request: RawRequest) -> None:
        before = self._texts.setdefault(request.session, []) if request.session else []
        request.input_text = "\n".join([*before, text])
        if before:
            self._context.infer(
                "Turns of a session bring what is new: the texts before them were added to their "
                "inputs, without the answers, whose texts the trace does not hold (inferred)."
            )
        before.append(text)

    def _whole(self, values: Mapping[str, Any], request: RawRequest) -> None:
        body = mapping(values["payload"], "payload") if values.get("payload") else values
        content = of_body(body)
        if content is None:
            raise RowProblem("the prompt is missing")
        request.input_text = content.text
        request.images = content.images or None
        request.max_output_tokens = limit_of(body)
        request.model = first_text(body.get("model"))


def _clock(head: Head) -> Clock:
    timed = any(each.get("timestamp") is not None for each in head.records)
    return Clock.RELATIVE if timed else Clock.NONE


def _parser(context: Context) -> _Sessions:
    return _Sessions(context)


FORMAT: Final = LogFormat(
    name="aiperf-trace",
    title="AIPerf trace (mooncake_trace with texts, messages or sessions)",
    framings=(Framing.JSONL,),
    clock=Clock.RELATIVE,
    clock_in=_clock,
    recognise=_recognise,
    parser=_parser,
    block_tokens=_BLOCK,
    lacks=("It names no failures, and does not tell how long answers took.",),
    source="https://docs.nvidia.com/aiperf/benchmark-modes/trace-replay-with-mooncake-traces",
    per_file=True,
)
