"""``vram trial run --url URL --workload W``: a workload against a live server."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.needs import need_full
from vramledger.cli.trial.load_options import load_options
from vramledger.cli.trial.needs import MODULES


@click.command("run")
@click.argument("plan", metavar="[PLAN]", required=False)
@click.option("--url", help="The server, such as http://localhost:8000.  [required]")
@load_options
@click.option(
    "--challenge",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Send what vram verify --challenge drew, and nothing else.",
)
@click.option("-o", "out", type=click.Path(path_type=Path), help="The run's folder; new.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, out: Path | None, as_json: bool, **asked: Any) -> int:
    """Send a workload to a server at the times it states, and record everything on one clock.

    The server is asked what it is, prompts are made to exact token counts for it, and it is warmed up before what is
    measured. The run is written to a folder as it goes, runs/... by default. Without --for, all of the workload is sent,
    which takes as long as its log did.

    With a plan, its contract is held against the run: exit code 1 when a line fails. Exit code 3 says that the figures
    decide nothing, because the client was the bottleneck, nothing was answered, or there were too few requests.
    """
    need_full("vram trial run", MODULES)
    from vramledger.cli.trial.asked import folder_for, trial_asked
    from vramledger.cli.trial.live_view import live_view
    from vramledger.cli.trial.shown import show_run
    from vramledger.trial.conduct.conduct import conduct

    trial = trial_asked(asked)
    folder = folder_for(out, trial)
    with live_view() as watch:
        conducted = conduct(trial, folder, watch)
    return show_run(conducted.folder, as_json=as_json, examples=conducted.course.examples)
