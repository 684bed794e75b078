"""``vram workload slice W``: a scenario, a stretch of time, a model or a tenant."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.workload import operator
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import BadInput


@click.command("slice")
@click.argument("workload", type=operator.WORKLOAD)
@operator.out
@click.option("--scenario", help="daily, peak, long-burst, tail, day or night.")
@click.option("--day", is_flag=True, help="As --scenario day: arrivals from 08:00 to 20:00.")
@click.option("--night", is_flag=True, help="As --scenario night: all others.")
@click.option("--from", "from_s", type=operator.seconds, help="From this time on: 600, 10m, 1h30m.")
@click.option("--to", "to_s", type=operator.seconds, help="Before this time.")
@click.option("--model", help="Requests of this model's label.")
@click.option("--tenant", type=int, help="Requests of this tenant's number.")
@operator.seed
@operator.as_json
def command(
    workload: Path,
    out: Path,
    *,
    scenario: str | None,
    day: bool,
    night: bool,
    from_s: float | None,
    to_s: float | None,
    model: str | None,
    tenant: int | None,
    seed: int,
    as_json: bool,
) -> int:
    """Write the requests of a scenario, a stretch of time, a model or a tenant.

    What is named must all hold. Times count from the first arrival; a scenario is found among the
    requests of --model and --tenant. Sessions that are cut keep their numbers and turns.
    """
    need_full("vram workload slice")
    from vramledger.workload.operators.slice_ import Selection, slice_workload

    named = [name for name in (scenario, "day" * day, "night" * night) if name]
    if len(named) > 1:
        raise BadInput(f"{' and '.join(named)} are two scenarios; slice one at a time.")
    selection = Selection(
        scenario=named[0] if named else None,
        from_s=from_s,
        to_s=to_s,
        model=model,
        tenant=tenant,
        seed=seed,
    )
    with progress_bar("slice", "requests") as bar:
        done = slice_workload(workload, selection, out, bar)
    return operator.answer(done, as_json=as_json)
