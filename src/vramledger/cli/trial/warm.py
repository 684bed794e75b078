"""``vram trial warm --url URL``: wait until a server is ready and warm."""

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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, within: str, as_json: bool, **asked: Any) -> int:
    """Wait until a server answers at a steady pace: a gate for roll-outs.

    GPU memory is read before the model is loaded, after, after the first request and at rest. Exit code 0 when the server
    is ready, 1 when it is not in time.
    """
    need_full("vram trial warm", MODULES)
    from vramledger.cli.trial.live_view import live_view
    from vramledger.cli.workload.operator import seconds
    from vramledger.report.trial_warm import warm_json, warm_text
    from vramledger.trial.conduct.readiness import ReadinessAsked, await_ready

    with live_view() as watch:
        found = await_ready(ReadinessAsked(within_s=seconds(within), **asked), watch.phase)
    if as_json:
        show_json(warm_json(found))
    else:
        show(warm_text(found))
    return ExitCode.HOLDS if found.ready else ExitCode.DOES_NOT_HOLD
