"""What became of an attempt, as a row of the record."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.client.attempt import CANCELLED, Attempt
from vramledger.trial.wire.failures import named
from vramledger.trial.wire.reply import Reply
from vramledger.trial.wire.tally import Timeline

_SECOND: Final = 1e9
CountText = Callable[[str], int]
_NOT_THE_SERVERS: Final = ("chunks", "tokenizer")
_END_TOKENS: Final = 2  # that some servers count beside the text: of a turn and of the answer
_NEVER: Final = "run_ended"
_NOTHING: Final = Timeline((), None, None, None)


@frozen
class Verdict:
    """How a request ended, in the words of the record."""

    outcome: Outcome
    error_class: str | None


def verdict_of(attempt: Attempt, timeline: Timeline) -> Verdict:
    """The outcome of an attempt that has ended, by the rules of `wire.failures`.

    A stream that ended well is incomplete all the same when the answer must have the length asked for and is
    shorter. Where only events were counted, which may hold several tokens, or tokens in its text, which may be
    split otherwise than they were made, an answer that ended with the reason `length` is believed. Where the server's
    own count is above what was asked for, by more than the tokens of an end, the count or the answer is wrong.
    """
    if attempt.ending == CANCELLED:
        return Verdict(Outcome.CANCELLED, None)
    failure = attempt.ending
    if failure is None:
        failure = _wrong_length(attempt, timeline)
    if failure is None:
        return Verdict(Outcome.OK, None)
    return Verdict(named(failure).outcome, failure)


def record_of(attempt: Attempt, zero_ns: int, count: CountText | None = None) -> RequestRecord:
    """The row of an attempt, whether it has ended or is under way; times count from the run's zero.

    `count` counts the tokens of answers of which nobody else tells them.
    """
    planned, reply = attempt.planned, attempt.reply
    timeline = _timeline(reply, count)
    verdict = (
        verdict_of(attempt, timeline)
        if attempt.ended_ns is not None
        else Verdict(Outcome.INCOMPLETE, _NEVER)
    )
    row = RequestRecord(
        request_id=planned.number,
        row=planned.row,
        session=planned.session,
        tenant=planned.tenant,
        attempt=planned.attempt,
        due_s=(attempt.due_ns - zero_ns) / _SECOND,
        done_s=_done_s(attempt, verdict, zero_ns),
        input_tokens_asked=planned.input_tokens,
        output_tokens_asked=planned.output_tokens,
        outcome=verdict.outcome,
        error_class=verdict.error_class,
    )
    return row if reply is None else _with_reply(row, reply, timeline, zero_ns)


def _timeline(reply: Reply | None, count: CountText | None) -> Timeline:
    if reply is None:
        return _NOTHING
    return reply.tally.timeline() if count is None else reply.tally.counted(count)


def _with_reply(
    row: RequestRecord, reply: Reply, timeline: Timeline, zero_ns: int
) -> RequestRecord:
    tally, stamps = reply.tally, timeline.stamps_ns
    return replace(
        row,
        dispatched_s=_seconds(_sent_ns(reply), zero_ns),
        headers_s=_seconds(reply.headers_ns, zero_ns),
        first_byte_s=_seconds(reply.first_byte_ns, zero_ns),
        first_role_s=_seconds(tally.role_ns, zero_ns),
        first_content_s=_seconds(stamps[0], zero_ns) if stamps else None,
        first_answer_s=_seconds(tally.answer_ns, zero_ns),
        last_content_s=_seconds(stamps[-1], zero_ns) if stamps else None,
        chunk_offset_us=offsets_us(stamps) if stamps else None,
        chunk_tokens=timeline.tokens if stamps else None,
        input_tokens_got=tally.prompt_tokens,
        output_tokens_got=timeline.total,
        tokens_basis=timeline.basis,
        http_status=reply.status,
        server_request_id=tally.id or reply.request_id,
        cached_tokens=tally.cached_tokens,
        retry_after_s=retry_after_s(reply.retry_after, reply.date),
    )


def _sent_ns(reply: Reply) -> int | None:
    """When its last byte left: not after the end, where the server answered before it had read everything."""
    if reply.sent_ns is None or reply.finished_ns is None:
        return reply.sent_ns
    return min(reply.sent_ns, reply.done_ns or reply.finished_ns)


def offsets_us(stamps_ns: Sequence[int]) -> Sequence[int]:
    """Microseconds from the first stamp to each, rounded."""
    first = stamps_ns[0] - 500
    return array("q", [(stamp - first) // 1_000 for stamp in stamps_ns])


def retry_after_s(value: str | None, date: str = "") -> float | None:
    """Retry-After in seconds (RFC 9110, 10.2.3): as stated, or from the response's `date` to the date that it gives.

    None where it is not there, is neither of the two, or gives a date in an answer without one: our clock is not the
    server's.
    """
    if value is None:
        return None
    if value.strip().isdecimal():
        stated = float(value)
        return stated if isfinite(stated) else None
    until, since = _moment(value), _moment(date)
    return None if until is None or since is None else max(until - since, 0.0)


def _moment(date: str) -> float | None:
    """Seconds since 1970 of a date of HTTP, which is UTC in every form (RFC 9110, 5.6.7)."""
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        found = parsedate_to_datetime(date)
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _wrong_length(attempt: Attempt, timeline: Timeline) -> str | None:
    if _too_short(attempt, timeline):
        return "too_short"
    return "too_long" if _too_long(attempt, timeline) else None


def _too_long(attempt: Attempt, timeline: Timeline) -> bool:
    """Every request states its limit, so this does not depend on `exact`."""
    most = attempt.planned.output_tokens
    if most is None or timeline.basis in _NOT_THE_SERVERS:
        return False
    return (timeline.total or 0) > most + _END_TOKENS


def _too_short(attempt: Attempt, timeline: Timeline) -> bool:
    planned, reply = attempt.planned, attempt.reply
    if not planned.exact or planned.output_tokens is None or reply is None:
        return False
    if timeline.basis in _NOT_THE_SERVERS and reply.tally.finish == "length":
        return False
    return (timeline.total or 0) < planned.output_tokens


def _done_s(attempt: Attempt, verdict: Verdict, zero_ns: int) -> float | None:
    """When it ended: at [DONE] where that came, else with the response, the connection or our patience."""
    if verdict.error_class == _NEVER or attempt.ended_ns is None:
        return None
    done_ns = (
        attempt.reply.done_ns if attempt.reply is not None and attempt.ending is None else None
    )
    return _seconds(done_ns or attempt.ended_ns, zero_ns)


def _seconds(moment_ns: int | None, zero_ns: int) -> float | None:
    return None if moment_ns is None else (moment_ns - zero_ns) / _SECOND
