"""``vram report RUN|BUNDLE -o report.html``: runs as a page that needs nothing else."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.needs import need_full


@click.command("report")
@click.argument("paths", metavar="RUN... | BUNDLE", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o", "out", type=click.Path(path_type=Path), help="The report: ends in .html, .md or .json."
)
@click.option(
    "--as",
    "form",
    type=click.Choice(["report", "acceptance"]),
    default="report",
    help="acceptance adds parties, order, what follows from the verdict, and places for signatures.",
)
@click.option(
    "--plan",
    metavar="PLAN",
    help="The plan to hold the runs against, one of each scenario; by default the one that they carry.",
)
@click.option(
    "--title", metavar="TEXT", help="What it is of; the name of the run or bundle by default."
)
@click.option(
    "--buyer", metavar="NAME", help="With --as acceptance, who buys; a line to fill in by default."
)
@click.option("--supplier", metavar="NAME", help="With --as acceptance, who sells.")
@click.option("--order", metavar="TEXT", help="With --as acceptance, number or words of the order.")
@click.option(
    "--on-pass", metavar="TEXT", help="With --as acceptance, what was agreed to follow from PASS."
)
@click.option("--on-fail", metavar="TEXT", help="With --as acceptance, what follows from FAIL.")
@click.option(
    "--on-inconclusive",
    metavar="TEXT",
    help="With --as acceptance, what follows from INCONCLUSIVE.",
)
@click.option(
    "--launch", metavar="COMMAND", help="The launch for the ledger, where the run does not tell it."
)
@click.option(
    "--gpu", metavar="NAME", help="The accelerator for the ledger, where the run does not tell it."
)
@click.option(
    "--model", metavar="NAME", help="The model for the ledger, where the run does not tell it."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(paths: tuple[Path, ...], *, out: Path | None, as_json: bool, **asked: Any) -> int:
    """Write the verdict, everything over time, the distributions, the ledger beside what was measured, and all that weakens them.

    A folder of repetitions, of a ramp or of a soak is all of its runs. A bundle is verified first, and exit code 1 says that
    it is not as it was sealed; else the report was written, whatever its verdict.
    """
    need_full(
        "vram report",
        (
            "cryptography",
            "duckdb",
            "jinja2",
            "numpy",
            "plotly",
            "pyarrow",
            "rfc8785",
            "scipy",
            "statsmodels",
        ),
    )
    from vramledger.cli.report_asked import written

    return written(paths, out, asked, as_json=as_json)
