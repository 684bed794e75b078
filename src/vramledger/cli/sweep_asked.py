"""The options of ``vram sweep`` as a sweep, carried out."""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.cli.limit_option import with_limits
from vramledger.cli.needs import need_ray
from vramledger.cli.simulate import command as simulate
from vramledger.cli.simulate_asked import question_of
from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.errors import BadInput
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.best import play_list
from vramledger.methods.sweep.candidates import Bounds
from vramledger.methods.sweep.compare import Swept, compared, searched
from vramledger.methods.sweep.grid import Axis, axes_of, grid, one_at_a_time
from vramledger.methods.sweep.local import LocalWorkers, cores
from vramledger.methods.sweep.objective import Objective, objective_of
from vramledger.methods.sweep.on_ray import RayWorkers
from vramledger.methods.sweep.prices import Prices
from vramledger.methods.sweep.run import Sweep, Workers
from vramledger.methods.sweep.search import search
from vramledger.plan.read import read_plan
from vramledger.simulate.planned import is_plan
from vramledger.sizing.pairs import prices_of
from vramledger.workload.store import read_metadata

_OWN: Final = (
    "settings",
    "alone",
    "grid",
    "search",
    "gpus",
    "objective",
    "prices",
    "knee",
    "jobs",
    "ray",
    "out",
)
_MOST_GPUS: Final = 8


def swept(asked: Mapping[str, Any]) -> Swept:
    """The sweep that the options ask, played.

    Raises:
        BadInput: an option is missing or means nothing, or the file holds something else.
        UnknownName: a setting, model, card, flag, scenario or version that is none.
        CannotKnow: another engine than vLLM, or a plan that is no single deployment.
    """
    if asked["alone"] and asked["grid"]:
        raise BadInput("--one-at-a-time and --grid are two ways to combine changes; choose one.")
    _check_search(asked)
    if not asked["settings"] and not asked["search"]:
        raise BadInput(
            "There is nothing to change; state settings with --set, such as --set max-num-seqs=64,128."
        )
    base = base_of(asked)
    if asked["search"] and base.question.contract is None:
        raise BadInput(
            "A search needs a contract to serve; state its lines with --limit, or give a plan that has one."
        )
    axes, prices = axes_of(asked["settings"], base), _prices(asked)
    with (
        Sweep(base, workers_of(asked), asked["out"]) as sweep,
        progress_bar("sweep", "points") as bar,
    ):
        if asked["search"]:
            bounds, objective = _bounds(asked, axes), _objective(asked)
            found = search(sweep, bounds, objective, bar, prices, knee=asked["knee"])
            return searched(base, found)
        points = grid(axes) if asked["grid"] else one_at_a_time(axes)
        results = play_list(sweep, points, bar, prices, knee=asked["knee"])
        return compared(base, results, prices)


def base_of(asked: Mapping[str, Any]) -> Base:
    """The question without any change.

    Raises:
        As `swept`.
    """
    of_simulate = {name: value for name, value in asked.items() if name not in _OWN}
    question = question_of({**_defaults(asked["launch"]), **of_simulate})
    path = question.part.workload
    if not read_metadata(path).rows:  # what is no workload is refused here too
        raise BadInput(f"{path} holds no request; import logs that do, or name another workload.")
    plan = asked["launch"] if is_plan(asked["launch"]) else None
    return Base(
        question,
        plan,
        limits=with_limits(None, asked["limits"]),
        rate_given=asked["rate_scale"] is not None,
        workload_given=asked["workload"] is not None,
    )


def _prices(asked: Mapping[str, Any]) -> Prices:
    """Those of a plan, and those given beside it, which win.

    Raises:
        BadInput: no price, or two currencies.
        UnknownName: no such card.
    """
    given = prices_of(asked["prices"])
    if not is_plan(asked["launch"]):
        return Prices(given.per_hour, given.currency)
    plan = read_plan(asked["launch"])
    if given.per_hour and plan.prices and given.currency != plan.currency:
        raise BadInput(
            "--price and the plan's prices are in different currencies; rates are not converted."
        )
    return Prices({**plan.prices, **given.per_hour}, given.currency or plan.currency)


def _check_search(asked: Mapping[str, Any]) -> None:
    """Refuse options of a search without one, and a search beside other ways to combine changes."""
    for name in ("gpus", "objective"):
        if asked[name] is not None and not asked["search"]:
            raise BadInput(f"--{name} has a part only in a search; add --search or leave it out.")
    if asked["search"] and (asked["alone"] or asked["grid"]):
        raise BadInput("--search chooses its own points; leave --one-at-a-time and --grid out.")


def _bounds(asked: Mapping[str, Any], axes: tuple[Axis, ...]) -> Bounds:
    return Bounds.of(asked["gpus"] or _MOST_GPUS, axes)


def _objective(asked: Mapping[str, Any]) -> Objective:
    return objective_of(asked["objective"] or "gpus")


def workers_of(asked: Mapping[str, Any]) -> Workers:
    """Who simulates.

    Raises:
        BadInput: Ray is asked for and not installed, or beside --jobs.
    """
    if asked["ray"] is not None:
        if asked["jobs"] is not None:
            raise BadInput(
                "--jobs counts processes here, and --ray simulates elsewhere; choose one."
            )
        need_ray()
        return RayWorkers(asked["ray"])
    return LocalWorkers(asked["jobs"] or cores())


def _defaults(launch: str) -> dict[str, Any]:
    """Every option of ``vram simulate``, whose question this is, as it stands where it is not given."""
    return simulate.make_context("simulate", ["--", launch]).params
