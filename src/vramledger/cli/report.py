"""``vram report RUN|BUNDLE -o report.html``: a trial as a page that needs nothing else."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full


@click.command("report")
@click.argument("paths", metavar="RUN... | BUNDLE", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--as",
    "form",
    type=click.Choice(["report", "acceptance"]),
    default="report",
    help="acceptance adds parties, order, what follows, and places for signatures.",
)
@click.option(
    "-o", "out", type=click.Path(path_type=Path), help="Ends in .html, .md or .json.  [required]"
)
def command(paths: tuple[Path, ...], *, form: str, out: Path | None) -> int:
    """Write the verdict, everything over time, the distributions and what weakens them, of trials or of a sealed bundle.

    A bundle is verified first. The exit code is that of the writing, not of the verdict.
    """
    need_full("vram report", ("cryptography", "duckdb", "jinja2", "numpy", "plotly", "pyarrow"))
    from vramledger.cli.report_asked import written

    return written(paths, out, acceptance=form == "acceptance")
