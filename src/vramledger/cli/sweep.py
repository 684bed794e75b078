"""``vram sweep LAUNCH --gpu NAME --workload W --set NAME=VALUES``: simulations side by side."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.calibration_option import calibration_option
from vramledger.cli.limit_option import limit_option
from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.routing_options import routing_options
from vramledger.errors import ExitCode


@click.command("sweep")
@click.argument("launch", metavar="LAUNCH|PLAN")
@click.option("--gpu", help="The accelerator: a name of vram gpus, or auto.")
@click.option("--workload", type=click.Path(path_type=Path), help="A stored workload (.parquet).")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUES",
    help="A setting and values to try, as max-num-seqs=64,128 or gpu=L40S,H200-141GB-SXM or "
    "max-num-seqs=64..512: any flag of the engine, gpu, model, engine-version, scenario, rate-scale, "
    "replicas, router, closed, prefill-servers, policy or acceptance; repeatable.",
)
@click.option("--one-at-a-time", "alone", is_flag=True, help="Each change alone; the default.")
@click.option("--grid", is_flag=True, help="Every combination of the values.")
@click.option("--search", is_flag=True, help="Find the settings that serve the contract best.")
@click.option("--gpus", type=click.IntRange(1, 1024), help="Most GPUs of a search; 8 by default.")
@click.option(
    "--objective", help="gpus (the cheapest or fewest that hold; the default) or goodput-per-gpu."
)
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="CARD=PRICE",
    help="What a GPU costs, as L40S=1.10/h; repeatable, beside those of a plan.",
)
@click.option(
    "--knee",
    is_flag=True,
    help="Search the highest load that keeps the contract too: of every point, of a search's best.",
)
@limit_option
@click.option("--scenario", help="daily, peak, long-burst, tail, day or night; or one of the plan.")
@click.option("--rate-scale", type=float, help="Arrivals times this.")
@click.option("--replicas", type=int, default=1, help="Equal servers behind a router.")
@routing_options
@click.option(
    "--acceptance",
    type=float,
    metavar="RATE",
    help="Share of drafts accepted at each position (0..1), for launches that speculate.",
)
@click.option("--engine-version", help="The engine's version, when the launch does not say.")
@click.option("--model", help="The model, when the launch names a path that is not here.")
@click.option("--coefficients", help="A file with your own step-time coefficients.")
@calibration_option
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of every draw; 0 by default.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; by default one a core.")
@click.option(
    "--ray",
    metavar="ADDRESS",
    help="A Ray cluster that simulates: auto, HOST:PORT, ray://HOST:PORT.",
)
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path),
    help="Results as Parquet; points that are in it already are not simulated again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, as_json: bool, **asked: Any) -> int:
    """What each change does to latency, throughput and the contract, simulated.

    LAUNCH is the command as you would type it, or a file that holds one; a PLAN brings the model, the
    arguments, the workload, the prices and the contract of a scenario. Points that do not start, are
    refused or are the base itself have a row with the reason.
    """
    need_full("vram sweep", ("duckdb", "pyarrow", "numpy", "numba", "scipy", "joblib"))
    from vramledger.cli.sweep_asked import swept
    from vramledger.report.sweep import to_text
    from vramledger.report.sweep_json import to_json

    found = swept(asked)
    if as_json:
        show_json(to_json(found))
    else:
        show(to_text(found))
    return ExitCode.INTERRUPTED if found.results.interrupted else found.exit_code
