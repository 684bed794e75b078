"""``vram workload head W N``: the first requests."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.workload import operator
from vramledger.cli.workload.progress_bar import progress_bar


@click.command("head")
@click.argument("workload", type=operator.WORKLOAD)
@click.argument("requests", type=click.IntRange(min=1))
@operator.out
@operator.as_json
def command(workload: Path, requests: int, out: Path, *, as_json: bool) -> int:
    """Write the first REQUESTS requests of a workload."""
    need_full("vram workload head")
    from vramledger.workload.operators.head import head

    with progress_bar("head", "requests") as bar:
        done = head(workload, requests, out, bar)
    return operator.answer(done, as_json=as_json)
