"""A line of the closeness report."""

from enum import StrEnum

from vramledger.frozen import frozen
from vramledger.workload.synth.permutation import SamplingError


class Verdict(StrEnum):
    """What a distance says."""

    WITHIN = "within"  # two samples of one source differ by as much
    BEYOND = "beyond"  # they rarely do
    AS_ASKED = "as asked"  # an option made this part different
    NOT_JUDGED = "not judged"  # the sampling error is not known; `reason` says why


@frozen
class Line:
    """One distance between the synthetic workload and its source, both as profiles.

    `typical` and `limit` are the median and the upper end of the same distance between two samples
    of one source, of the two workloads' sizes. `resolution` is how far the profiles' own rounding can
    move the distance; beyond means more than limit and resolution together.
    """

    part: str
    statistic: str
    distance: float
    typical: float | None
    limit: float | None
    resolution: float
    verdict: Verdict
    reason: str = ""


def judged(
    part: str, statistic: str, distance: float, error: SamplingError, resolution: float = 0.0
) -> Line:
    """The line with its verdict."""
    within = distance <= error.limit + resolution
    return Line(
        part, statistic, distance, error.typical, error.limit, resolution,
        Verdict.WITHIN if within else Verdict.BEYOND,
    )  # fmt: skip


def as_asked(line: Line, option: str) -> Line:
    """The line where an option made the difference on purpose."""
    reason = f"{option} asked for something else"
    return Line(
        line.part, line.statistic, line.distance, line.typical, line.limit, line.resolution,
        Verdict.AS_ASKED, reason,
    )  # fmt: skip


def open_line(part: str, statistic: str, distance: float, reason: str) -> Line:
    """A distance whose sampling error is not known."""
    return Line(part, statistic, distance, None, None, 0.0, Verdict.NOT_JUDGED, reason)
