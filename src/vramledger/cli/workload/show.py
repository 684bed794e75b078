"""``vram workload show WORKLOAD``: histograms in the terminal, or a page."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show
from vramledger.errors import BadInput, ExitCode


@click.command("show")
@click.argument("workload", type=click.Path(path_type=Path))
@click.option(
    "--html", type=click.Path(path_type=Path), help="Write one self-contained page there."
)
@click.option("--width", type=click.IntRange(min=60), help="Columns of the drawings.")
@click.option("--force", is_flag=True, help="Write over an existing page.")
def command(workload: Path, html: Path | None, width: int | None, *, force: bool) -> int:
    """Draw a stored workload or a profile: lengths, arrivals, sharing, limits, scenarios.

    WORKLOAD is a Parquet file of `vram workload import` or a JSON file of `vram workload profile`.
    """
    import shutil

    from vramledger.report.workload_show import to_text
    from vramledger.workload.profile.load import load_profile

    if workload.suffix.lower() != ".json":
        need_full("vram workload show")
    if html is not None:
        need_full("vram workload show --html", ("jinja2", "plotly"))
        if html.exists() and not force:
            raise BadInput(f"{html} exists; name another file, or add --force to write over it.")
    profile = load_profile(workload)
    if html is None:
        show(to_text(profile, width or max(60, shutil.get_terminal_size((100, 24)).columns)))
        return ExitCode.HOLDS
    from vramledger.report.workload_html.page import to_html

    _write(html, to_html(profile))
    show(f"Wrote {html}; it loads nothing from anywhere.", err=True)
    return ExitCode.HOLDS


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
