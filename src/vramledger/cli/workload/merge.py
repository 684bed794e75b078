"""``vram workload merge A B...``: workloads side by side in time."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.workload import operator
from vramledger.cli.workload.progress_bar import progress_bar


@click.command("merge")
@click.argument("workloads", type=operator.WORKLOAD, nargs=-1, required=True)
@operator.out
@click.option("--by-week", is_flag=True, help="Each at its own hour of the week, not all from 0.")
@click.option("--same-models", is_flag=True, help="model-0 is one model in all.")
@operator.as_json
def command(
    workloads: tuple[Path, ...], out: Path, *, by_week: bool, same_models: bool, as_json: bool
) -> int:
    """Write all requests of several workloads; no session, tenant or prefix of two is one."""
    need_full("vram workload merge")
    from vramledger.workload.operators.merge import merge

    with progress_bar("merge", "requests") as bar:
        done = merge(workloads, out, bar, by_week=by_week, same_models=same_models)
    return operator.answer(done, as_json=as_json)
