"""Every observation measured, sorted into kept, set aside and refused."""

from dataclasses import dataclass
from pathlib import Path

from accuracy.aside import ASIDE
from accuracy.measure import Measured, Refused, measure
from accuracy.observations import Observation, read


@dataclass(frozen=True, slots=True)
class Rows:
    """What became of every observation that names a version."""

    kept: tuple[Measured, ...]
    aside: tuple[Observation, ...]  # with a reason in `ASIDE`
    refused: tuple[Refused, ...]


def measured_rows(path: Path) -> Rows:
    """Measure every vLLM observation of the file that names a version."""
    rows = [row for row in read(path) if row.version is not None]
    aside = tuple(row for row in rows if row.id in ASIDE)
    found = [measure(row) for row in rows if row.id not in ASIDE]
    return Rows(
        kept=tuple(one for one in found if isinstance(one, Measured)),
        aside=aside,
        refused=tuple(one for one in found if isinstance(one, Refused)),
    )
