"""Which scenarios run at the same time: their loads add up, and the strictest moment decides."""

from collections.abc import Iterable
from itertools import product
from typing import Final

from vramledger.evidence import Basis, Figure, weakest
from vramledger.frozen import frozen
from vramledger.plan.requirement import Kind
from vramledger.sizing.need import Need

_DAY: Final = 24 * 60


@frozen
class Peak:
    """Scenarios that may be at their peaks together. At least one."""

    needs: tuple[Need, ...]

    @property
    def name(self) -> str:
        return " + ".join(need.name for need in self.needs)

    @property
    def kind(self) -> Kind:
        """Latency as soon as anybody waits."""
        waits = any(need.kind is Kind.LATENCY for need in self.needs)
        return Kind.LATENCY if waits else Kind.THROUGHPUT

    @property
    def concurrent(self) -> Figure:
        """Requests in flight together; peaks that coincide add up end by end."""
        figures = [need.concurrent for need in self.needs]
        if len(figures) == 1:
            return figures[0]
        return Figure(
            sum(figure.value for figure in figures),
            sum(figure.low for figure in figures),
            sum(figure.high for figure in figures),
            weakest(figure.basis for figure in figures),
            "scenarios of overlapping hours add up",
        )

    @property
    def mean(self) -> float | None:
        """Requests in flight on average; None where every load was stated as a peak."""
        if all(need.mean is None for need in self.needs):
            return None
        return sum(need.concurrent.value if need.mean is None else need.mean for need in self.needs)

    @property
    def headroom(self) -> float | None:
        """The largest share that any of the scenarios asks to keep free."""
        asked = [need.headroom for need in self.needs if need.headroom is not None]
        return max(asked, default=None)

    def longest_at(self, share: float) -> int:
        """Tokens that this share of the requests stays within, in the scenario of the longest."""
        return max(need.lengths.total_at(share) for need in self.needs)


def peaks(needs: tuple[Need, ...]) -> tuple[Peak, ...]:
    """Every largest set of scenarios that may coincide, each set once.

    Scenarios without hours may come at any time. Two that read the same load are two views of the
    same requests and never add up.
    """
    moments = {_start(need.hours) for need in needs}
    sets: list[tuple[Need, ...]] = []
    for moment in sorted(moments):
        active = [need for need in needs if _covers(need.hours, moment)]
        for chosen in product(*_views(active)):
            ordered = tuple(need for need in needs if need in chosen)
            if ordered not in sets:
                sets.append(ordered)
    return tuple(Peak(found) for found in sets if not _within_another(found, sets))


def joined_notes(found: Iterable[Peak]) -> tuple[str, ...]:
    """A sentence for every set that adds up."""
    return tuple(
        f"{peak.name}: these may run at the same time and add up to {peak.concurrent.value:,.0f} "
        "requests in flight; hours that do not overlap keep scenarios apart."
        for peak in found
        if len(peak.needs) > 1
    )


def one_request(basis: Basis = Basis.ASSUMED) -> Figure:
    """The least that memory must hold where work waits in a queue."""
    return Figure.sharp(1.0, basis, "work queues: one request at a time is the least")


def _views(active: list[Need]) -> list[list[Need]]:
    """Needs of the same traffic together; one of each group counts at a time."""
    groups: dict[str, list[Need]] = {}
    for number, need in enumerate(active):
        groups.setdefault(need.traffic or f"#{number}", []).append(need)
    return list(groups.values())


def _within_another(found: tuple[Need, ...], sets: list[tuple[Need, ...]]) -> bool:
    return any(len(other) > len(found) and all(n in other for n in found) for other in sets)


def _start(hours: str | None) -> int:
    return 0 if hours is None else _minutes(hours.partition("-")[0])


def _covers(hours: str | None, moment: int) -> bool:
    """Whether a moment, in minutes of the day, lies in the hours; equal ends mean the whole day."""
    if hours is None:
        return True
    first, _, last = hours.partition("-")
    start, end = _minutes(first), _minutes(last)
    length = (end - start) % _DAY or _DAY
    return (moment - start) % _DAY < length


def _minutes(text: str) -> int:
    hour, _, minute = text.partition(":")
    return int(hour) * 60 + int(minute)
