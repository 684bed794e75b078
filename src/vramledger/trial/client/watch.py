"""Which requests have taken too long, and why."""

from vramledger.trial.client.attempt import Attempt
from vramledger.trial.wire.limits import Limits


def overdue(attempt: Attempt, limits: Limits, now_ns: int) -> str | None:
    """The class of failure of an attempt that may wait no longer; None while it may."""
    reply, connection = attempt.reply, attempt.connection
    if limits.request_s is not None and now_ns - attempt.due_ns > limits.request_s * 1e9:
        return "request_timeout"
    if reply is None or connection is None or reply.done_ns or limits.silence_s is None:
        return None
    silence_ns = limits.silence_s * 1e9
    if now_ns - connection.heard_ns > silence_ns:
        return "stalled"
    stamps = reply.tally.stamps
    whole_ns = max(
        stamps[-1] if stamps else 0, reply.progress_ns, reply.sent_ns or connection.heard_ns
    )
    return "slow_drip" if now_ns - whole_ns > silence_ns else None


def lingers(attempt: Attempt, limits: Limits, now_ns: int) -> bool:
    """Whether the answer is complete and only the response's own end does not come."""
    reply = attempt.reply
    done_ns = reply.done_ns if reply is not None else None
    return done_ns is not None and now_ns - done_ns > limits.after_done_s * 1e9
