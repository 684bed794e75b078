"""``vram calibrate RUN... -o FILE``: what runs teach of the host they were made on."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.errors import ExitCode


@click.command("calibrate")
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("-o", "out", type=click.Path(path_type=Path), help="The calibration's file (.json).")
@click.option("--launch", help="The launch command, where the run does not say all of it.")
@click.option(
    "--gpu", help="The accelerator, where the run does not say: a name of vram gpus, or cpu."
)
@click.option("--model", help="The model, where the run names a path that is not here.")
@click.option(
    "--engine-version", "version", help="The engine's version, where the run does not say."
)
@click.option(
    "--server-log",
    type=click.Path(path_type=Path),
    help="An engine's start-up log in place of a run: the memory rows of the ledger alone.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Time a live server (--url) in a minute or two, in place of a run.",
)
@click.option("--url", help="With --quick, the server, such as http://localhost:8000.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(runs: tuple[Path, ...], *, out: Path | None, as_json: bool, **stated: Any) -> int:
    """Fit what belongs to the host (bandwidth, compute, overhead, link) to recorded runs of one deployment.

    The file goes to size, simulate, predict and sweep as --calibration. It tells each term with the interval that holds
    nine of ten, which the runs determined, and how well the simulator reproduces the runs with them.
    """
    need_full("vram calibrate", ("duckdb", "pyarrow", "numpy", "numba", "scipy"))
    from vramledger.cli.calibrate_asked import document_of, written

    found = document_of(runs, stated)
    if out is not None:
        written(found.document, out, runs)
    if as_json:
        show_json(found.document)
    else:
        show(found.text if out is None else f"{found.text}\n\nWritten to {out}.")
    return ExitCode.HOLDS
