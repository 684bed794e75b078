"""What a report says of a series of runs, before anything is written."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.record.document import Origin
    from vramledger.report.html.strips import Chart
    from vramledger.report.html.titled_table import Table
    from vramledger.report.run_report.model import Ruling


class Kind(StrEnum):
    """How its runs belong together."""

    REPETITION = "repetition"
    RAMP = "ramp"
    SOAK = "soak"


@frozen
class SeriesReport:
    """One series. `rulings` are what it is held against, one a server; `says` are the finding's sentences.

    `document` is what the verb that made the series prints with ``--json``, and `open_points` are finished sentences.
    `scenarios` of a plan are those that it decides.
    """

    key: str  # in ids: letters and digits
    name: str
    kind: Kind
    rulings: "tuple[Ruling, ...]"
    says: tuple[str, ...]
    charts: "tuple[Chart, ...]"
    tables: "tuple[Table, ...]"
    document: Mapping[str, Any]
    origins: "tuple[Origin, ...]"
    words: tuple[str, ...] = ()
    open_points: tuple[str, ...] = ()
    scenarios: frozenset[str | None] = frozenset()

    @property
    def mark(self) -> str:
        """What each of its titles carries where no server was measured here."""
        return f" ({', '.join(self.words)})" if self.words else ""
