"""``vram workload show WORKLOAD``: histograms in the terminal, or a page."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show
from vramledger.cli.workload.destination import destination
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import BadInput, ExitCode
from vramledger.written_file import refuse_place

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
        need_full("vram workload show --html", ("jinja2", "plotly"))
        refuse_place(html, (workload,), "--html")
    profile = _profile(workload)
    if html is None:
        show(to_text(profile, width or max(60, shutil.get_terminal_size((100, 24)).columns)))
        return ExitCode.HOLDS
    from vramledger.report.workload_html.page import to_html

    _write(html, to_html(profile))
    show(f"Wrote {html}; it loads nothing from anywhere.", err=True)
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


def _write(path: Path, text: str) -> None:
    """The file appears whole or not at all.

    Raises:
        BadInput: it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror}; choose another --html."
        ) from None
    finally:
        part.unlink(missing_ok=True)
