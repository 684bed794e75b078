"""The line "the queue drains"."""

from collections.abc import Iterator
from typing import Final

from vramledger.accept.lines.about import REQUESTS, About
from vramledger.accept.queue import GROWTH, Course, Queue, queue_of
from vramledger.accept.settling import longer
from vramledger.accept.verdict import Line, Said
from vramledger.record.samples import SERVER, STEPS

NAME: Final = "the queue drains"
UNIT: Final = "requests/s"
_SAID: Final = {
    Course.DRAINS: Said.PASS,
    Course.GROWS: Said.FAIL,
    Course.OPEN: Said.INCONCLUSIVE,
}
_SLOPE_POWER: Final = 2 / 3  # its error falls with the duration to the power of 1.5


def queue_line(about: About) -> Iterator[Line]:
    """The line, where the contract has one; value, low and high are the slope."""
    if not about.scenario.contract.queue_must_drain:
        return
    found = queue_of(about.offered)
    shown = found.shown
    records = (
        REQUESTS,
        *(each.file for each in (SERVER, STEPS) if each.name in about.offered.run.tables),
    )
    least = GROWTH * found.arrivals_per_s
    settles = ""
    if found.course is Course.OPEN:
        reach = None if shown is None else (shown.high - shown.low) / 2
        settles = "a longer run of the same load" if reach is None else longer(about.offered.sent_s, reach, least, _SLOPE_POWER)  # fmt: skip
    yield Line(
        NAME,
        _SAID[found.course],
        UNIT,
        None if shown is None else shown.slope,
        None if shown is None else shown.low,
        None if shown is None else shown.high,
        least,
        said_of(found),
        records,
        len(about.offered.found),
        None if shown is None else float(shown.count),
        settles,
    )


def said_of(found: Queue) -> str:
    """``drains in 3.2 minutes; 9.98 arrived and 9.97 ended a second; Little's law is off by +1.2 %``."""
    course = str(found.course)
    if found.course is Course.DRAINS and found.minutes is not None:
        course = f"drains in {found.minutes:,.1f} minutes" if found.minutes else "it was empty again at the end of the load"  # fmt: skip
    parts = [
        course,
        f"{found.arrivals_per_s:,.3g} arrived and {found.completions_per_s:,.3g} ended a second",
    ]
    if found.residual is not None:
        parts.append(f"the server held {found.residual:+.1%} of what the client's times come to")
    return "; ".join(parts)
