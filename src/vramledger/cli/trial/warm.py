"""``vram trial warm --url URL``: wait until a server is ready and warm."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.trial.needs import MODULES
from vramledger.errors import ExitCode


@click.command("warm")
@click.option("--url", required=True, help="The server, such as http://localhost:8000.")
@click.option("--within", default="10m", metavar="TIME", help="Most time to wait; 10m by default.")
@click.option("--model", help="The name to ask for; the first that the server lists by default.")
@click.option("--api", type=click.Choice(["chat", "completions"]), default="chat", help="Endpoint.")
@click.option("--key-env", metavar="NAME", help="Environment variable with the server's key.")
@click.option("--key-file", metavar="FILE", help="File with the server's key.")
@click.option(
    "--gpu-metrics", metavar="URL", help="DCGM exporter or Prometheus, for GPUs elsewhere."
)
@click.option("-o", "out", type=click.Path(path_type=Path), help="The run's folder; new.")
@click.option("--no-record", is_flag=True, help="Write no run.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, within: str, out: Path | None, no_record: bool, as_json: bool, **asked: Any) -> int:
    """Wait until a server answers at a steady pace: a gate for roll-outs.

    GPU memory is read before the model is loaded, after, after the first request and at rest, and written to a run's
    folder, runs/... by default. Exit code 0 when the server is ready, 1 when it is not in time.
    """
    need_full("vram trial warm", MODULES)
    from vramledger.cli.trial.asked import new_folder
    from vramledger.cli.trial.live_view import live_view
    from vramledger.cli.workload.operator import seconds
    from vramledger.report.trial_warm import warm_json, warm_text
    from vramledger.trial.conduct.readiness import ReadinessAsked, await_ready
    from vramledger.trial.conduct.readiness_run import recorded_readiness

    wanted = ReadinessAsked(within_s=seconds(within), **asked)
    folder = None if no_record else out or new_folder("warm")
    with live_view() as watch:
        if folder is None:
            found = await_ready(wanted, watch.phase)
        else:
            found = recorded_readiness(wanted, watch.phase, folder)
    if as_json:
        show_json(warm_json(found, folder))
    else:
        show(warm_text(found, folder))
    return ExitCode.HOLDS if found.ready else ExitCode.DOES_NOT_HOLD
