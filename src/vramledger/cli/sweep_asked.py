"""The options of ``vram sweep`` as a sweep, carried out."""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.cli.limit_option import with_limits
from vramledger.cli.simulate import command as simulate
from vramledger.cli.simulate_asked import question_of
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import BadInput
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.compare import Swept, compared
from vramledger.methods.sweep.grid import axes_of, grid, one_at_a_time
from vramledger.methods.sweep.local import LocalWorkers, cores
from vramledger.methods.sweep.run import Sweep, Workers
from vramledger.simulate.planned import is_plan

_OWN: Final = ("settings", "alone", "grid", "jobs", "out")


def swept(asked: Mapping[str, Any]) -> Swept:
    """The sweep that the options ask, played.

    Raises:
        BadInput: an option is missing or means nothing, or the file holds something else.
        UnknownName: a setting, model, card, flag, scenario or version that is none.
        CannotKnow: another engine than vLLM, or a plan that is no single deployment.
    """
    if asked["alone"] and asked["grid"]:
        raise BadInput("--one-at-a-time and --grid are two ways to combine changes; choose one.")
    if not asked["settings"]:
        raise BadInput(
            "There is nothing to change; state settings with --set, such as --set max-num-seqs=64,128."
        )
    base = base_of(asked)
    axes = axes_of(asked["settings"], base)
    points = grid(axes) if asked["grid"] else one_at_a_time(axes)
    with (
        Sweep(base, workers_of(asked), asked["out"]) as sweep,
        progress_bar("sweep", "points") as bar,
    ):
        results = sweep.play(points, bar)
    return compared(base, results)


def base_of(asked: Mapping[str, Any]) -> Base:
    """The question without any change.

    Raises:
        As `swept`.
    """
    of_simulate = {name: value for name, value in asked.items() if name not in _OWN}
    question = question_of({**_defaults(asked["launch"]), **of_simulate})
    plan = asked["launch"] if is_plan(asked["launch"]) else None
    return Base(
        question,
        plan,
        limits=with_limits(None, asked["limits"]),
        rate_given=asked["rate_scale"] is not None,
        workload_given=asked["workload"] is not None,
    )


def workers_of(asked: Mapping[str, Any]) -> Workers:
    """Who simulates."""
    return LocalWorkers(asked["jobs"] or cores())


def _defaults(launch: str) -> dict[str, Any]:
    """Every option of ``vram simulate``, whose question this is, as it stands where it is not given."""
    return simulate.make_context("simulate", ["--", launch]).params
