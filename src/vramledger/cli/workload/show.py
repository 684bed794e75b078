"""``vram workload show WORKLOAD``: histograms in the terminal, or a page."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show
from vramledger.cli.page import refuse_page, write_page
from vramledger.cli.workload.destination import destination
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import ExitCode

if TYPE_CHECKING:
    from vramledger.workload.profile.profile import Profile


@click.command("show")
@click.argument("workload", type=click.Path(path_type=Path))
@destination("Write one self-contained page there.", ("--html",))
@click.option("--width", type=click.IntRange(min=60), help="Columns of the drawings.")
def command(workload: Path, html: Path | None, width: int | None) -> int:
    """Draw a stored workload or a profile: lengths, arrivals, sharing, limits, scenarios.

    WORKLOAD is a Parquet file of `vram workload import` or a JSON file of `vram workload profile`.
    """
    import shutil

    from vramledger.report.workload_show import to_text

    if html is not None:
        refuse_page(html, "vram workload show", (workload,))
    profile = _profile(workload)
    if html is None:
        show(to_text(profile, width or max(60, shutil.get_terminal_size((100, 24)).columns)))
        return ExitCode.HOLDS
    from vramledger.report.workload_html.page import to_html

    write_page(html, to_html(profile))
    return ExitCode.HOLDS


def _profile(path: Path) -> "Profile":
    """The profile in a file, or one made of a stored workload, with a bar meanwhile."""
    from vramledger.workload.profile.load import is_stored, load_profile

    if not is_stored(path):
        return load_profile(path)
    need_full("vram workload show")
    from vramledger.workload.profile.compute import profile_workload

    with progress_bar("Counting", "questions") as progress:
        return profile_workload(path, progress=progress)
