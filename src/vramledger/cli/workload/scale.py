"""``vram workload scale W``: more or fewer arrivals, longer or shorter requests."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.workload import operator
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import BadInput


@click.command("scale")
@click.argument("workload", type=operator.WORKLOAD)
@operator.out
@click.option("--rate", type=float, default=1.0, help="Arrivals times this; sessions stay whole.")
@click.option("--lengths", type=float, help="Inputs and outputs times this.")
@click.option("--input", "inputs", type=float, help="Inputs times this.")
@click.option("--output", "outputs", type=float, help="Outputs times this.")
@click.option("--time", type=float, default=1.0, help="The clock times this: 0.5 is twice as fast.")
@operator.seed
@operator.as_json
def command(
    workload: Path,
    out: Path,
    *,
    rate: float,
    lengths: float | None,
    inputs: float | None,
    outputs: float | None,
    time: float,
    seed: int,
    as_json: bool,
) -> int:
    """Write a workload with other arrivals or lengths.

    A rate below 1 keeps each session with that probability; above 1 it adds shifted copies with
    sessions and private prefixes of their own. Prompts that began alike still do when stretched.
    """
    need_full("vram workload scale")
    from vramledger.workload.operators.scale import Scale, scale

    if lengths is not None and (inputs is not None or outputs is not None):
        raise BadInput("--lengths is both --input and --output; give it alone, or those two.")
    whole = 1.0 if lengths is None else lengths
    by = Scale(
        rate=rate,
        time=time,
        input=whole if inputs is None else inputs,
        output=whole if outputs is None else outputs,
        seed=seed,
    )
    with progress_bar("scale", "requests") as bar:
        done = scale(workload, by, out, bar)
    return operator.answer(done, as_json=as_json)
