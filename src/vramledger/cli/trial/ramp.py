"""``vram trial ramp``: load that rises step by step until the server says stop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from vramledger.cli.calibration_option import calibration_option
from vramledger.cli.limit_option import limit_option
from vramledger.cli.needs import need_full
from vramledger.cli.trial.load_options import load_options
from vramledger.cli.trial.needs import MODULES

RAMP_MODULES: Final = (*MODULES, "scipy", "statsmodels")
Function = TypeVar("Function", bound=Callable[..., Any])
_OURS: Final = frozenset({"rate_scale", "closed", "duration", "on_interrupt"})


def _step_options(function: Function) -> Function:
    """Those of a trial, but for what a ramp decides itself."""
    function = load_options(function)
    kept = [each for each in function.__click_params__ if each.name not in _OURS]  # type: ignore[attr-defined]
    function.__click_params__ = kept  # type: ignore[attr-defined]
    return function


@click.command("ramp")
@click.argument("plan", metavar="[PLAN]", required=False)
@click.option("--url", help="The server, such as http://localhost:8000.  [required]")
@click.option("--closed", is_flag=True, help="Raise the requests in flight, not the rate.")
@click.option(
    "--start", type=float, metavar="LEVEL", help="The first step; 1, or a quarter of the rate."
)
@click.option("--most", type=float, metavar="LEVEL", help="Never go beyond.")
@click.option(
    "--at-least",
    type=float,
    metavar="LEVEL",
    help="The load that is needed; the plan's by default.",
)
@click.option("--step-for", default="60s", metavar="TIME", help="How long each step sends; 60s.")
@click.option("--for", "total", metavar="TIME", help="Begin no step that would end after so long.")
@click.option("--steps", type=click.IntRange(1, 200), default=24, help="At most so many steps; 24.")
@click.option("--tolerance", type=float, help="How near the ends are told, relative; 0.1.")
@click.option(
    "--idle-limit",
    default="2m",
    metavar="TIME",
    help="Most wait for an idle server between steps; 2m.",
)
@click.option(
    "--headroom", type=float, help="Share of the KV pool the safe load keeps free (0..1)."
)
@limit_option
@click.option(
    "--launch",
    metavar="COMMAND",
    help="The server's launch command: begin where it is simulated to end.",
)
@click.option("--gpu", help="The accelerator of that simulation: a name of vram gpus.")
@calibration_option
@_step_options
@click.option("-o", "out", type=click.Path(path_type=Path), help="The ramp's folder; new.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(*, out: Path | None, as_json: bool, **asked: Any) -> int:
    """Raise the load of a live server step by step, and find the safe load.

    A level is a factor on the workload's own arrivals, or with --closed a number of requests in flight. The first that
    preempts, breaks the contract or lets the queue grow ends the climb; then the end is told more closely, and the load that keeps the headroom beside.
    A step is a trial of its own in the folder; the server is idle before each. vram trial resume FOLDER goes on.

    Exit code 0: the safe load is what the plan asks for, or more. 1: it is less. 3: it cannot be known.
    """
    need_full("vram trial ramp", RAMP_MODULES)
    from vramledger.cli.trial.ramp_run import begin_ramp

    return begin_ramp(asked, out, as_json=as_json)
