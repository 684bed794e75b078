"""Requests in flight, from arrivals and durations."""

from typing import Any

from vramledger.workload.profile.aggregates import Expression, whole
from vramledger.workload.profile.frequency import Frequency
from vramledger.workload.profile.profile import Concurrency


def in_flight(table: Expression) -> Expression:
    """Value (requests in flight), requests (whole seconds with so many), up to the last arrival.

    A request is in flight at second t when ``arrival_s <= t < arrival_s + duration_s``. Changes of
    a second are added up by a running sum over the seconds that have any.
    """
    import ibis

    timed = table.filter(table.arrival_s.notnull() & table.duration_s.notnull())
    starts = timed.select(second=whole(timed.arrival_s.ceil()), change=ibis.literal(1, "int64"))
    ends = timed.select(
        second=whole((timed.arrival_s + timed.duration_s).ceil()), change=ibis.literal(-1, "int64")
    )
    events = ibis.union(_summed(starts), _summed(ends))
    changes = _summed(events)
    last = timed.aggregate(last=whole(timed.arrival_s.floor().max()))
    levels = changes.cross_join(last).mutate(
        level=whole(changes.change.sum().over(rows=(None, 0), order_by=changes.second)),
        until=changes.second.lead(1).over(order_by=changes.second),
    )
    kept = levels.filter(levels.second <= levels.last)
    seconds = ibis.least(kept.until.fill_null(kept.last + 1), kept.last + 1) - kept.second
    return kept.group_by(value=kept.level).agg(requests=whole(seconds.sum()))


def _summed(events: Any) -> Any:
    return events.group_by("second").agg(change=whole(events.change.sum()))


def concurrency(levels: Frequency, requests: int) -> Concurrency:
    """The figures of a profile, of seconds by level and the requests that have a duration."""
    p50, p95, p99 = levels.quantiles([0.5, 0.95, 0.99])
    return Concurrency(
        requests=requests,
        mean=levels.total / levels.count,
        p50=p50,
        p95=p95,
        p99=p99,
        max=int(levels.values[-1]),
    )
