"""Which kind of series a folder holds, and its report."""

from pathlib import Path

from vramledger.methods.ramp.kept import RAMP, SOAK, is_kept
from vramledger.methods.repeated.series import is_series
from vramledger.report.series_report.model import SeriesReport
from vramledger.report.series_report.ramp import ramp_report
from vramledger.report.series_report.repetition import repetition_report
from vramledger.report.series_report.soak import soak_report


def is_series_folder(folder: Path) -> bool:
    """Whether a verb left several runs there that belong together."""
    return is_series(folder) or is_kept(folder, RAMP) or is_kept(folder, SOAK)


def series_report(folder: Path, key: str) -> SeriesReport | None:
    """The report of such a folder; None of a ramp that is not over, whose steps are runs like others.

    Raises:
        BadInput: its record, or a run that it needs, is damaged.
    """
    if is_series(folder):
        return repetition_report(folder, key)
    return soak_report(folder, key) if is_kept(folder, SOAK) else ramp_report(folder, key)
