"""vLLM's server log.

Sources: https://github.com/vllm-project/vllm (vllm/entrypoints/logger.py, vllm/v1/engine/async_llm.py,
vllm/v1/metrics/loggers.py and their forerunners).

With --enable-log-requests (the default before 0.10.1) a line tells each request as it comes:
"Received request ID: ..., params: SamplingParams(... max_tokens=...)". Up to 0.11 and at level DEBUG it holds
the prompt, or the prompt's token ids. "Generated response ID" (--enable-log-outputs), "Finished
request", "Request ID aborted" and "Request ID failed" end it. Without any of these, what is left are the
statistics of every 10 s and the access lines between them: means (see `parts.vllm_stats`).

Lines carry neither year nor time zone, and whole seconds: arrivals count from the start of the year.
"""

import re
from collections.abc import Iterable
from typing import Final

from vramledger.record.outcome import Outcome
from vramledger.workload.formats.format import Clock, Context, Framing, Head, LogFormat, Record
from vramledger.workload.formats.parts.vllm_lines import (
    Ended,
    Received,
    added,
    clean,
    ended,
    message_of,
    prompt_details,
    received,
)
from vramledger.workload.formats.parts.vllm_stats import Statistics
from vramledger.workload.formats.parts.vllm_time import YearlessClock
from vramledger.workload.raw import RawRequest, RowProblem

_MARK: Final = re.compile(
    r"\b(?:INFO|WARNING|ERROR|DEBUG) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./]+\.py:\d+\]"
)
_MOST_OPEN: Final = 100_000  # requests without an end yet; a log without ends never ends them
_SUFFIX: Final = re.compile(r"-(?:\d+|[0-9a-f]{8})$")  # of the parts of one call
_DETAILS_KEPT: Final = 1000


def _recognise(head: Head) -> bool:
    return any(_MARK.search(line) for line in head.lines)


class _Parser:
    """Holds requests until the line that ends them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._clock = YearlessClock(context)
        self._open: dict[str, RawRequest] = {}
        self._details: dict[str, Received] = {}
        self._statistics = Statistics(context)
        self._logs_requests = False
        self._latest: int | None = None  # moment of the last line about a request

    def parse(self, record: Record) -> Iterable[RawRequest]:
        line = clean(str(record.values.get("line") or ""))
        message = message_of(line)
        begun = received(message)
        if begun is not None:
            return self._begin(begun, line, record.line)
        identity = added(message)
        if identity is not None:
            return self._add(identity, line, record.line)
        finished = ended(message)
        if finished is not None:
            return self._end(finished, line)
        detail = prompt_details(message)
        if detail is not None:
            self._remember(detail)
            return ()
        if not self._logs_requests:
            found = self._statistics.read(line, record.line, self._clock)
            if found is not None:
                return found
        raise RowProblem("line is about no single request")

    def finish(self) -> Iterable[RawRequest]:
        left = [self._unended(identity) for identity in list(self._open)]
        return [*left, *self._statistics.finish()]

    def _unended(self, identity: str) -> RawRequest:
        """A request whose end was not logged so far; it is told now."""
        request = self._open.pop(identity)
        request.logged_ns = self._latest
        return request

    def _begin(self, begun: Received, line: str, number: int) -> Iterable[RawRequest]:
        self._logs_requests = True
        arrival = self._clock.moment_ns(line)
        if arrival is None:
            raise RowProblem("time of the line is missing")
        self._latest = arrival
        before = self._details.pop(begun.identity, begun)
        request = RawRequest(
            line=number,
            arrival_ns=arrival,
            input_tokens=begun.tokens if begun.tokens is not None else before.tokens,
            max_output_tokens=begun.limit,
            input_text=begun.prompt if begun.prompt is not None else before.prompt,
            model=begun.adapter,
            request_id=begun.identity,
        )
        self._open[begun.identity] = request
        if len(self._open) > _MOST_OPEN:
            return (self._unended(next(iter(self._open))),)
        return ()

    def _add(self, identity: str, line: str, number: int) -> Iterable[RawRequest]:
        """The engine took a request in; most versions told it as received before."""
        if identity in self._open or _SUFFIX.sub("", identity) in self._open:
            return ()
        return self._begin(Received(identity), line, number)

    def _end(self, finished: Ended, line: str) -> Iterable[RawRequest]:
        identity = finished.identity
        if identity not in self._open:
            identity = _SUFFIX.sub("", identity)
        request = self._open.pop(identity, None)
        if request is None:
            return ()  # another part of a request that has ended
        end = self._clock.moment_ns(line)
        if end is not None and request.arrival_ns is not None:
            self._latest = request.logged_ns = end
            request.duration_ns = max(0, end - request.arrival_ns)
        request.outcome = finished.outcome
        request.output_tokens = finished.tokens
        request.output_text = finished.text
        if finished.outcome is Outcome.CANCELLED:
            request.cancel_after_ns = request.duration_ns
        return (request,)

    def _remember(self, detail: Received) -> None:
        self._details[detail.identity] = detail
        if len(self._details) > _DETAILS_KEPT:
            del self._details[next(iter(self._details))]


FORMAT: Final = LogFormat(
    name="vllm-log",
    title="vLLM server log",
    framings=(Framing.TEXT,),
    clock=Clock.RELATIVE,
    recognise=_recognise,
    parser=_Parser,
    lacks=(
        "Prompts are logged up to 0.11 and at level DEBUG only: without them input tokens are unknown.",
        "Prompts that --max-log-len cut are counted as they were cut.",
        "A line of an access tells neither its request nor its time: refusals are not counted.",
    ),
    source="https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/logger.py",
)
