"""``vram accept RUN... --plan PLAN``: runs held against the contract of a plan."""

from pathlib import Path

import click

from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.trial.needs import READING


@click.command("accept")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--plan", "plan", required=True, metavar="PLAN", help="The plan with the contract.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(runs: tuple[Path, ...], plan: str, *, as_json: bool) -> int:
    """PASS, FAIL or INCONCLUSIVE for every line of a plan's contract, with interval, threshold and reason.

    Give one run for each scenario of the plan. Exit code 0 says that every line holds, 1 that one does not, 3 that one cannot be
    decided; what would settle it is said beside it.
    """
    need_full("vram accept", (*READING, "scipy", "statsmodels"))
    from vramledger.accept.beside import read_beside
    from vramledger.accept.judge import judge
    from vramledger.plan.read import read_plan
    from vramledger.record.run import read_run

    requirement = read_plan(plan)
    found = judge([read_run(each) for each in runs], requirement, read_beside(requirement))
    if as_json:
        from vramledger.accept.verdict_json import verdict_json

        show_json(verdict_json(found))
    else:
        from vramledger.report.verdict import verdict_text

        show(verdict_text(found))
    return found.exit_code
