"""``vram trial soak``: the same load for hours, and what grows meanwhile."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.limit_option import limit_option
from vramledger.cli.needs import need_full
from vramledger.cli.trial.load_options import load_options
from vramledger.cli.trial.ramp import RAMP_MODULES


@click.command("soak")
@click.argument("plan", metavar="[PLAN]", required=False)
@click.option("--url", help="The server, such as http://localhost:8000.  [required]")
@click.option(
    "--segments",
    type=click.IntRange(4, 1000),
    default=24,
    help="Equal parts of the time, each the same load; 24.",
)
@click.option(
    "--ramps/--no-ramps",
    default=True,
    help="Short ramps at start, middle and end; made by default.",
)
@click.option(
    "--step-for", default="30s", metavar="TIME", help="How long a step of a ramp sends; 30s."
)
@click.option(
    "--ramp-for", metavar="TIME", help="A ramp begins no step that would end after so long."
)
@click.option(
    "--within", metavar="TIME", help="Begin no segment and no ramp that would end after so long."
)
@click.option("--most", type=float, metavar="N", help="Never more requests in flight in a ramp.")
@limit_option
@load_options
@click.option("-o", "out", type=click.Path(path_type=Path), help="The soak's folder; new.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, out: Path | None, as_json: bool, **asked: Any) -> int:
    """Send the same load for hours, and test whether memory, latency or the blocks of an idle server grow.

    The time of --for (4h by default) is cut into equal segments that all send the workload from its beginning, in its own
    rhythm: so load is equal in all of them. Between two the server is idle for a moment. vram trial resume FOLDER goes on.

    Exit code 0: nothing grows. 1: something does, or the safe load has fallen. 3: it cannot be known.
    """
    need_full("vram trial soak", RAMP_MODULES)
    from vramledger.cli.trial.soak_run import begin_soak

    return begin_soak(asked, out, as_json=as_json)
