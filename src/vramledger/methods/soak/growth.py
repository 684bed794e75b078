"""What grows over a soak: a slope for each figure, all of them tested together.

Slopes and their errors are those of `statistics.trend`. As several figures are tested at once, p-values are Holm's (S. Holm, A Simple Sequentially
Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979, by statsmodels), so that the chance of
calling any of them growing in a steady server is 5 % at most. A figure holds where the upper end of its interval stays below what would matter; between the
two it is open, and a longer soak would decide: the error of a slope over equally spaced values falls with the duration to the power of 1.5.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.soak.segment import Segment
from vramledger.statistics.trend import FEWEST, Trend, trend

WRONG: Final = 0.05
_LEFT_OUT: Final = 0.1  # of the segments, at the beginning: caches fill and allocators settle
_SETTLING_BYTES: Final = float(4 << 20)
_MATTERS: Final = 4.0  # times that
_POWER: Final = 2 / 3  # of the ratio of errors, for the ratio of durations
_DAY_S: Final = 86_400.0


class Standing(StrEnum):
    """What is said of a figure, or of the whole."""

    HOLDS = "holds"
    GROWS = "grows"
    OPEN = "not decided"


@frozen
class Measure:
    """A figure of each segment. `matters` and `floor` are growths over the soak, of the mean, or of 1 where `absolute`.

    Less than `floor` is never called growth, however sure; `matters` is what a server that holds must be shown to stay below.
    """

    name: str
    title: str
    unit: str
    of: Callable[[Segment], float | None]
    floor: float
    matters: float
    absolute: bool = False

    @property
    def least(self) -> float:
        """Of memory in bytes: allocators of small processes take and keep so much without a leak."""
        return _SETTLING_BYTES if self.unit == "bytes" else 0.0


MEASURES: Final = (
    Measure("process_bytes", "memory of the server's processes, idle", "bytes", lambda s: s.process_bytes, 0.002, 0.02),
    Measure("page_process_bytes", "memory of the process that its metrics page tells, idle", "bytes", lambda s: s.page_process_bytes, 0.002, 0.02),
    Measure("gpu_bytes", "GPU memory at equal load", "bytes", lambda s: s.gpu_bytes, 0.002, 0.02),
    Measure("ttft_p50_s", "median TTFT at equal load", "s", lambda s: s.ttft_p50_s, 0.05, 0.1),
    Measure("e2e_p50_s", "median E2E at equal load", "s", lambda s: s.e2e_p50_s, 0.05, 0.1),
    Measure("idle_kv_usage", "KV blocks not free when idle, as a share", "0..1", lambda s: s.idle_kv_usage, 0.005, 0.01, absolute=True),
)  # fmt: skip


@frozen
class Growth:
    """One figure. `p` is Holm's; `trend` is None where nothing tells it often enough, and `why` says so.

    `needs_s` is the duration that would decide it, None where it is decided or not told.
    """

    measure: Measure
    trend: Trend | None
    p: float | None
    standing: Standing
    why: str = ""
    needs_s: float | None = None

    @property
    def share(self) -> float | None:
        """The growth over the soak, as a share of the mean."""
        found = self.trend
        return None if found is None or not found.mean else found.grown / found.mean

    @property
    def a_day(self) -> float | None:
        """The slope, a day."""
        return None if self.trend is None else self.trend.slope * _DAY_S


def growths(segments: Sequence[Segment]) -> tuple[Growth, ...]:
    """Every figure that the segments tell, in the order of `MEASURES`."""
    kept = settled(segments)
    trends = [(measure, _trend(measure, kept)) for measure in MEASURES]
    told = [found for _, found in trends if found is not None]
    adjusted = iter(_adjusted([found.p_rises for found in told]))
    found = (
        _judged(measure, each, None if each is None else next(adjusted), kept)
        for measure, each in trends
    )
    return tuple(each for each in found if each is not None)


def settled(segments: Sequence[Segment]) -> Sequence[Segment]:
    """Without those at the beginning, in which any server settles."""
    return segments[max(1, round(len(segments) * _LEFT_OUT)) :] if segments else segments


def _trend(measure: Measure, segments: Sequence[Segment]) -> Trend | None:
    import numpy as np

    values = np.array([_number(measure.of(each)) for each in segments])
    return trend(np.array([each.t_s for each in segments]), values) if len(values) else None


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _adjusted(values: list[float]) -> list[float]:
    from statsmodels.stats.multitest import multipletests

    return [float(each) for each in multipletests(values, method="holm")[1]] if values else []


def _judged(
    measure: Measure, found: Trend | None, p: float | None, segments: Sequence[Segment]
) -> Growth | None:
    """None where no segment tells the figure at all."""
    count = sum(measure.of(each) is not None for each in segments)
    if found is None or p is None:
        why = f"only {count} segments tell it, and a trend needs {FEWEST}"
        return Growth(measure, None, None, Standing.OPEN, why) if count else None
    scale = 1.0 if measure.absolute else abs(found.mean)
    floor = max(measure.floor * scale, measure.least)
    matters = max(measure.matters * scale, _MATTERS * measure.least)
    if p < WRONG and found.grown > floor:
        return Growth(measure, found, p, Standing.GROWS)
    if found.high * found.span_s <= matters:
        return Growth(measure, found, p, Standing.HOLDS)
    reach = (found.high - found.slope) * found.span_s
    needed = max(matters - found.grown, floor)
    longer = (reach / needed) ** _POWER if needed > 0 else None
    why = f"its growth may be up to {found.high * found.span_s / scale:.1%}, and {matters / scale:.0%} would matter" if scale else ""  # fmt: skip
    return Growth(
        measure, found, p, Standing.OPEN, why, None if longer is None else max(longer, 1.1) * found.span_s
    )  # fmt: skip
