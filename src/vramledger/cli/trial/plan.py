"""``vram trial plan PLAN``: which trials decide the contract, before the machine is rented; ``--run`` carries them out."""

from pathlib import Path
from typing import Any

import click

from vramledger.cli.calibration_option import calibration_option
from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.cli.trial.needs import MODULES
from vramledger.errors import BadInput, ExitCode


@click.command("plan")
@click.argument("plan", metavar="[PLAN]", required=False)
@click.option(
    "--run",
    "trials",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Carry out such a file.",
)
@click.option("--until", metavar="TIME", help="When the machine has to be given back: 18:00.")
@click.option("--hours", type=float, help="How long there is a machine.")
@click.option("--max-cost", type=float, metavar="MONEY", help="Most money; needs --price.")
@click.option("--price", metavar="PRICE", help="Of the whole machine, such as 2.40/h.")
@click.option("--confidence", type=float, help="Of each decision, 0.9 by default.")
@click.option(
    "--also",
    multiple=True,
    metavar="TRIAL",
    help="Beside the contract, as time is left: cold, ramp, soak:2h, repeat:3, shadow:FILE, an argument of the server "
    "changed, max-num-seqs=128, or variations for all that suggest themselves; may be given again.",
)
@click.option("--restart-takes", default="5m", metavar="TIME", help="Of the server; 5m by default.")
@click.option("--gpu", help="The accelerator, where the plan has several: a name of vram gpus.")
@click.option("--workload", type=click.Path(path_type=Path), help="A stored workload (.parquet).")
@click.option("--engine-version", help="The engine's version, when the plan does not say.")
@click.option("--model", help="The model, when the plan names a path that is not here.")
@click.option(
    "--stages",
    type=click.Path(path_type=Path),
    help="Log of stage times that every trial will read; queue_s is decided by it.",
)
@calibration_option
@click.option("--seed", type=click.IntRange(min=0), help="Of every draw; 0 by default.")
@click.option("--url", help="The server, such as http://localhost:8000.")
@click.option("--key-env", metavar="NAME", help="Environment variable with the server's key.")
@click.option("--key-file", metavar="FILE", help="File with the server's key.")
@click.option(
    "--api", type=click.Choice(["chat", "completions"]), help="Endpoint; chat by default."
)
@click.option(
    "--home",
    metavar="DIR|USER@HOST:DIR",
    help="With --run: copy what is finished there as it goes.",
)
@click.option(
    "--restart-command",
    metavar="COMMAND",
    help="With --run: starts the server anew, with $VRAM_SETTINGS as further arguments.",
)
@click.option("--keep-going", is_flag=True, help="With --run: go on when the contract has failed.")
@click.option("-o", "out", type=click.Path(path_type=Path), help="The file; with --run the folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, trials: Path | None, as_json: bool, **asked: Any) -> int:
    """The shortest sequence of trials that decides the contract of PLAN, with its hours and its cost.

    Every scenario is simulated first. Its lines tell how many requests they need at the share that keeps each limit there, and
    the scenario's own rate how long that takes. Exit code 3 when the time cannot decide every line. With -o the
    sequence is written to a file, which --run FILE carries out, unattended and resumable.
    """
    need_full("vram trial plan", (*MODULES, "numba", "scipy"))
    if trials is None:
        return _propose(asked, as_json=as_json)
    return _run(trials, asked, as_json=as_json)


def _propose(asked: dict[str, Any], *, as_json: bool) -> int:
    from vramledger.cli.progress_lines import progress_shown
    from vramledger.cli.trial.plan_asked import proposed, refuse_run_options, written
    from vramledger.report.trial_plan import plan_text
    from vramledger.report.trial_plan_json import plan_json

    refuse_run_options(asked)
    with progress_shown("trial plan", "requests") as bar:
        found = proposed(asked, bar)
    if isinstance(found, str):
        if as_json:
            show_json({"schema": "vramledger.trialplan/1", "starts": False, "reason": found})
        else:
            show(f"DOES NOT START, so no trial can decide anything: {found}")
        return ExitCode.DOES_NOT_HOLD
    file = None if asked["out"] is None else written(found, asked)
    if as_json:
        show_json(plan_json(found.proposal, file))
    else:
        show(plan_text(found.proposal, file))
    sure = found.proposal.decides and not found.proposal.no_evidence
    return ExitCode.HOLDS if sure else ExitCode.CANNOT_KNOW


def _run(trials: Path, asked: dict[str, Any], *, as_json: bool) -> int:
    from vramledger.cli.trial.plan_run import carried_out
    from vramledger.report.trial_page import page_text
    from vramledger.report.trial_page_json import page_json

    if asked["plan"] is not None:
        raise BadInput("--run takes the file of trials, which names its plan; leave PLAN out.")
    page = carried_out(trials, asked, lambda said: show(said, err=True))
    if as_json:
        show_json(page_json(page))
    else:
        show(page_text(page))
    return page.exit_code
