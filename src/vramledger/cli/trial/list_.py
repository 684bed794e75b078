"""``vram trial list [DIR]``: the runs in a folder."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.trial.needs import READING
from vramledger.errors import ExitCode


@click.command("list")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(folder: Path, *, as_json: bool) -> int:
    """The runs in a folder, runs/ by default, measured and simulated ones, with how each ended."""
    need_full("vram trial list", READING)
    from vramledger.report.trial_list import list_json, list_text
    from vramledger.trial.conduct.listing import runs_in

    found = runs_in(folder)
    if as_json:
        show_json(list_json(found))
    else:
        show(list_text(found, folder))
    return ExitCode.HOLDS
