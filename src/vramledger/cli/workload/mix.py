"""``vram workload mix A B --share 0.3``: two workloads at stated shares."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.workload import operator
from vramledger.cli.workload.progress_bar import progress_bar


@click.command("mix")
@click.argument("first", type=operator.WORKLOAD)
@click.argument("second", type=operator.WORKLOAD)
@operator.out
@click.option("--share", type=float, required=True, help="Share of the second, between 0 and 1.")
@click.option("--same-models", is_flag=True, help="model-0 is one model in both.")
@operator.seed
@operator.as_json
def command(
    first: Path,
    second: Path,
    out: Path,
    *,
    share: float,
    same_models: bool,
    seed: int,
    as_json: bool,
) -> int:
    """Write the requests of FIRST with a share of SECOND among them, at the rate of FIRST."""
    need_full("vram workload mix")
    from vramledger.workload.operators.mix import Mix, mix

    how = Mix(share=share, seed=seed, same_models=same_models)
    with progress_bar("mix", "requests") as bar:
        done = mix(first, second, how, out, bar)
    return operator.answer(done, as_json=as_json)
