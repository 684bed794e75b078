"""``vram trial export RUN --format F``: a run as files."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show
from vramledger.cli.trial.needs import READING
from vramledger.errors import ExitCode

_FORMATS = ("csv", "json", "aiperf", "guidellm", "llm-d")


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "name",
    type=click.Choice(_FORMATS),
    required=True,
    help="csv and json are ours; the others are files as those tools write them.",
)
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder; this one by default.",
)
def command(run: Path, name: str, out: Path) -> int:
    """Write a trial as files that other programs read.

    Files in the form of other tools count as those do: from when a request was sent, failures left out of percentiles.
    What such a form asks for and a trial does not know is null, or what that tool writes for nothing.
    """
    need_full("vram trial export", READING)
    from vramledger.record.run import read_run
    from vramledger.report.trial_export.registry import write_export
    from vramledger.trial.conduct.summary import summarise

    for path in write_export(summarise(read_run(run)), name, out):
        show(f"Wrote {path}.")
    return ExitCode.HOLDS
