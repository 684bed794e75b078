"""``vram ledger LAUNCH --gpu NAME``: where every GiB of a launch command goes."""

from typing import Any

import click

from vramledger.cli.output import show, show_json
from vramledger.errors import BadInput


@click.command("ledger")
@click.argument("launch", required=False)
@click.option("--gpu", help="The accelerator: a name of vram gpus, or auto.")
@click.option("--engine-version", help="The engine's version, when the launch does not say.")
@click.option("--total-gib", type=float, help="Memory that the driver reports, per GPU.")
@click.option("--used-gib", type=float, help="Memory that other processes hold, per GPU.")
@click.option("--model", help="The model, when the launch or log names a path that is not here.")
@click.option("--request-tokens", help="Length of the requests to count, such as 8k.")
@click.option(
    "--concurrent",
    type=int,
    help="Requests to hold, for --solve, --table and --beside; 1 by default.",
)
@click.option(
    "--solve",
    help="max-model-len, max-num-seqs, gpu-memory-utilization, kv-cache-memory-bytes or gpus.",
)
@click.option("--vs", help="Another launch: what changes, and why.")
@click.option(
    "--table",
    "tables",
    multiple=True,
    help="NAME=4k..128k or NAME=a,b: one row a value; 4k is 4096 here.",
)
@click.option("--layouts", type=int, help="A number of GPUs: every legal TP x PP x DP over them.")
@click.option("--beside", help="Another launch on the same GPUs: order and fractions of the two.")
@click.option("--baseline", help="A ledger saved as JSON: fail when KV tokens are lost.")
@click.option("--max-loss", help="Loss that --baseline allows; 5% by default.")
@click.option("--from-log", help="A start-up log: measured beside predicted.")
@click.option("--from-metrics", help="A metrics page, file or URL: measured beside predicted.")
@click.option(
    "--calibration",
    metavar="FILE",
    help="Memory rows of a start that was measured, by vram calibrate --server-log; they count for that very start.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
def command(*, as_json: bool, markdown: bool, **options: Any) -> int:
    """Where every GiB of a launch command goes, per GPU, and what fits.

    LAUNCH is the command as you would type it, or a compose file, manifest, values file or unit. It
    may be left out with --from-log, which knows what was started.
    """
    from vramledger.cli.ledger_asked import Asked
    from vramledger.cli.ledger_views import view

    if as_json and markdown:
        raise BadInput("--json and --markdown are two forms of one answer; ask for one of them.")
    shown = view(Asked(**options))
    if as_json:
        show_json(shown.as_json())
    else:
        show(shown.as_markdown() if markdown else shown.as_text())
    return shown.exit_code
