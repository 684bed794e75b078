"""Sessions: how many turns they have, and how much of a turn the one before carried in."""

from vramledger.workload.profile.aggregates import Expression, whole
from vramledger.workload.profile.frequency import Frequency
from vramledger.workload.profile.profile import Sessions

_STEPS = 100  # of `Sessions.think_s`


def turns(table: Expression) -> Expression:
    """Value (turns of a session), requests (sessions with so many)."""
    known = _turns(table)
    each = known.group_by("session").agg(turns=known.count())
    return each.group_by(value=each.turns).agg(requests=each.count())


def carried(table: Expression) -> Expression:
    """One row: input tokens of later turns, and those that the turn before had as input or output."""
    import ibis

    turns_of = _turns(table)
    known = turns_of.filter(turns_of.input_tokens.notnull() & turns_of.output_tokens.notnull())
    held = whole(known.input_tokens) + known.output_tokens
    paired = known.select(
        given=whole(known.input_tokens),
        before=held.lag(1).over(group_by=known.session, order_by=known.row),
    )
    later = paired.filter(paired.before.notnull())
    return later.aggregate(
        given=whole(later.given.sum().fill_null(0)),
        carried=whole(ibis.least(later.given, later.before).sum().fill_null(0)),
    )


def _turns(table: Expression) -> Expression:
    """The requests of sessions without retries: an attempt again is no further turn."""
    known = table.filter(table.session.notnull())
    return known.filter(known.retry_of.isnull()) if "retry_of" in table.columns else known


def sessions(of_turns: Frequency, think_ms: Frequency | None, share: float | None) -> Sessions:
    """The figures of a profile."""
    quantiles = (
        think_ms.quantiles([step / _STEPS for step in range(_STEPS + 1)]) if think_ms else []
    )
    return Sessions(
        count=of_turns.count,
        turns=tuple(
            (int(turns), int(count))
            for turns, count in zip(of_turns.values, of_turns.counts, strict=True)
        ),
        think_s=tuple(each / 1000 for each in quantiles),
        carried=share,
    )
