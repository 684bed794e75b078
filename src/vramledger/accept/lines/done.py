"""The line "done by": whether the work of a throughput scenario is over in time, at the pace of the run.

The work is what the plan's load brings in the scenario's hours, or the run's own requests where it states no rate; the pace is what ended as asked in an hour. What
ended otherwise has to be done again, and so does not count.
"""

from collections.abc import Iterator
from math import inf
from typing import Final

from vramledger.accept.lines.about import REQUESTS, About
from vramledger.accept.lines.goodput import hourly
from vramledger.accept.settling import longer
from vramledger.accept.verdict import Line, Said, held
from vramledger.plan.requirement import LoadUnit, Scenario

_DAY_MIN: Final = 24 * 60
_UNIT: Final = "h"


def done_line(about: About) -> Iterator[Line]:
    """The line, where the contract has one; value, low and high are the hours that the work takes."""
    scenario = about.scenario
    if scenario.contract.done_by is None:
        return
    name, records = f"done by {scenario.contract.done_by}", (REQUESTS,)
    reasons = {each.line: each.why for each in about.offered.told.unjudgeable}
    there = _hours(scenario)
    if there is None:
        yield Line(name, Said.INCONCLUSIVE, _UNIT, records=records,
                   reason="the plan does not say when the work begins",
                   settles=f"hours of the scenario, such as hours: 22:00-{scenario.contract.done_by}")  # fmt: skip
        return
    found = hourly(about, about.offered.served.ok)
    pace = None if found is None else found.requests
    if pace is None or not pace.value:
        yield Line(name, Said.INCONCLUSIVE, _UNIT, threshold=there, reason="no request ended as asked", records=records)  # fmt: skip
        return
    amount = _amount(scenario, about)
    low, high = amount / pace.high, amount / pace.low if pace.low > 0 else inf
    said, settles = held(low, high, there), ""
    reason = f"{amount:,.0f} requests at {pace.value:,.0f} an hour"
    if "done_by" in reasons:
        said, reason = Said.INCONCLUSIVE, reasons["done_by"]
    elif said is Said.INCONCLUSIVE:
        needed = amount / there
        settles = longer(about.offered.span_s, (pace.high - pace.low) / 2, abs(pace.value - needed))
    yield Line(
        name, said, _UNIT, amount / pace.value, low, high, there, reason, records, round(pace.counted), pace.independent,
        settles,
    )  # fmt: skip


def _hours(scenario: Scenario) -> float | None:
    """From the beginning of the scenario's hours to the time asked for; None where the plan does not say when they begin."""
    if scenario.hours is None or scenario.contract.done_by is None:
        return None
    begin = _minutes(scenario.hours.split("-", 1)[0])
    return ((_minutes(scenario.contract.done_by) - begin) % _DAY_MIN or _DAY_MIN) / 60


def _amount(scenario: Scenario, about: About) -> float:
    """Requests that are to be done."""
    load = scenario.load
    rate = load.amount if load.unit is LoadUnit.REQUESTS_PER_S else load.per_s
    if rate is None or scenario.hours is None:
        return float(len(about.offered.found))
    begin, end = map(_minutes, scenario.hours.split("-", 1))
    return rate * 60 * ((end - begin) % _DAY_MIN or _DAY_MIN)


def _minutes(clock: str) -> int:
    hour, minute = clock.split(":")
    return int(hour) * 60 + int(minute)
