"""``vram size``: from a requirement to the cards and layouts that hold it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from vramledger.cli.calibration_option import calibration_option
from vramledger.cli.needs import need_full
from vramledger.cli.output import show, show_json
from vramledger.errors import BadInput, CannotKnow, ExitCode

if TYPE_CHECKING:
    from vramledger.simulate.timing.coefficients import Fit
    from vramledger.sizing.ask import Asked
    from vramledger.sizing.candidate import Sizing
    from vramledger.sizing.question import Question

_SIMULATES: Final = ("duckdb", "ibis", "numba", "numpy", "pyarrow", "scipy")


@click.command("size")
@click.argument("target", metavar="PLAN|MODEL")
@click.option("--users", type=int, help="People with access; factors make them requests in flight.")
@click.option("--concurrent", type=float, help="Requests in flight at the peak.")
@click.option("--rate", type=float, help="Requests per second at the peak.")
@click.option("--profile", help="Shape of the requests; chat by default.")
@click.option("--workload", help="Recorded requests: a workload (.parquet) or its profile (.json).")
@click.option("--from-run", metavar="RUN", help="A trial's folder: the KV tokens it held at most.")
@click.option("--rate-scale", type=float, help="Growth: the recorded arrivals times this.")
@click.option(
    "--success", type=float, help="Share of requests to serve (0..1); a recorded workload's: all."
)
@click.option("--limits", is_flag=True, help="The table of context limits and what each costs.")
@click.option(
    "--gpu", "gpus", multiple=True, help="Only these cards (auto: this machine's); all by default."
)
@click.option("--price", "prices", multiple=True, help="CARD=1.10/h; ranks the cards by money.")
@click.option("--precision", "weights", multiple=True, help="as-stored (default), fp8, ...")
@click.option("--kv-dtype", "kv", multiple=True, help="auto (default), fp8, ...")
@click.option("--factor", "factors", multiple=True, help="NAME=NUMBER, changes an assumption.")
@click.option("--headroom", type=float, help="Share of the KV pool kept free (0..1).")
@click.option("--engine-version", help="vLLM version; the newest known by default.")
@click.option(
    "--simulate", is_flag=True, help="Play the best candidates in the simulator: speed and queue."
)
@click.option(
    "--simulate-top",
    type=int,
    help="How many of them, 3 by default; and what else does on as many GPUs.",
)
@calibration_option
@click.option(
    "--limit",
    "contract",
    multiple=True,
    metavar="LIMIT",
    help='With --simulate, a line of every scenario\'s contract, as "ttft_s p95 <= 2" or '
    '"success >= 99%"; repeatable, and beside those of a plan.',
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Of every draw of --simulate; 0 by default."
)
@click.option("--tiers", is_flag=True, help="A first screen over memory tiers, for a MODEL.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    target: str,
    *,
    simulate: bool,
    simulate_top: int | None,
    contract: tuple[str, ...],
    seed: int | None,
    calibration: str | None,
    tiers: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Which cards and layouts hold a requirement, with the launch command of each.

    Give a plan file (vram plan new writes one), or a model with --workload or --from-run, or a model
    with --users, --concurrent or --rate. With --simulate, a candidate that fails the contract there is not
    recommended.
    """
    from vramledger.sizing.ask import Asked

    if options["from_run"] is not None:
        need_full("vram size --from-run", ("duckdb", "numpy", "pyarrow"))
    asked = Asked(**options)
    played = {
        "simulate": simulate, "simulate_top": simulate_top, "contract": contract, "seed": seed,
        "calibration": calibration,
    }  # fmt: skip
    if tiers:
        _refuse_with_tiers({**options, **played})
        return _tiers(target, asked, as_json=as_json)
    from vramledger.sizing.search import size

    if simulate:
        need_full("vram size --simulate", _SIMULATES)
    elif simulate_top is not None or seed is not None:
        raise BadInput("--simulate-top and --seed are of a simulation; add --simulate.")
    elif contract:
        raise BadInput("--limit is held against a simulation; add --simulate.")
    question = _measured(
        _agreed(_question(target, asked), contract), calibration, simulate=simulate
    )
    sizing = size(question)
    if simulate:
        sizing = _simulated(sizing, question, simulate_top, seed, calibration)
    if as_json:
        from vramledger.report.sizing_json import sizing_json

        show_json(sizing_json(sizing))
    else:
        from vramledger.report.sizing import to_text

        show(to_text(sizing))
    return _code_of(sizing)


def _code_of(sizing: "Sizing") -> ExitCode:
    """What holds with step times that are no evidence is not known."""
    if not sizing.known:
        return ExitCode.CANNOT_KNOW
    if not sizing.holds:
        return ExitCode.DOES_NOT_HOLD
    return ExitCode.HOLDS if sizing.evidence else ExitCode.CANNOT_KNOW


def _simulated(
    sizing: "Sizing",
    question: "Question",
    top: int | None,
    seed: int | None,
    calibration: str | None,
) -> "Sizing":
    from vramledger.cli.candidate_bar import candidate_bar
    from vramledger.sizing.simulated.sized import TOP, Asked, simulated

    asked = Asked(TOP if top is None else top, seed or 0, _fit(calibration))
    with candidate_bar() as announce:
        return simulated(sizing, question, asked, announce)


def _fit(calibration: str | None) -> "Fit | None":
    """The step times of the calibration; the shipped ones where it is of memory alone."""
    from vramledger.cli.calibration_option import fit_from
    from vramledger.ledger.calibration_file import has_step_times, read_content

    if calibration is None or not has_step_times(read_content(Path(calibration))):
        return None
    return fit_from(None, calibration)


def _measured(question: "Question", calibration: str | None, *, simulate: bool) -> "Question":
    """The question with the memory that the calibration measured.

    Raises:
        BadInput: it has step times alone, and nothing is simulated.
    """
    from dataclasses import replace

    from vramledger.cli.calibration_option import memory_from
    from vramledger.ledger.measured_memory import counts_where

    memory = memory_from(calibration)
    if memory is None:
        if calibration is not None and not simulate:
            raise BadInput(
                f"{calibration} has step times and no memory rows, and step times are of a simulation; add --simulate."
            )
        return question
    return replace(question, memory=memory, notes=(*question.notes, counts_where(memory)))


def _agreed(question: "Question", limits: tuple[str, ...]) -> "Question":
    """The question with those limits in every scenario's contract."""
    from dataclasses import replace

    from vramledger.cli.limit_option import with_limits

    scenarios = tuple(
        replace(each, contract=with_limits(each.contract, limits) or each.contract)
        for each in question.scenarios
    )
    return replace(question, scenarios=scenarios)


def _question(target: str, asked: "Asked") -> "Question":
    from vramledger.sizing.ask import narrowed, question_from

    path = Path(target)
    if path.suffix not in (".yaml", ".yml"):
        return question_from(target, asked)
    from vramledger.plan.read import read_plan
    from vramledger.sizing.from_plan import question_of

    return narrowed(question_of(read_plan(str(path))), asked)


def _refuse_with_tiers(options: dict[str, Any]) -> None:
    """Options the screen has no use for, by the names they are typed with."""
    named = {p.name: p.opts[0] for p in command.params}
    given = [named[name] for name, value in options.items() if value and name != "engine_version"]
    if given:
        raise BadInput(
            "--tiers looks at every profile on one GPU of every memory tier, without a load; leave "
            f"out {', '.join(given)}, or leave out --tiers to size a load."
        )


def _tiers(target: str, asked: "Asked", *, as_json: bool) -> int:
    from vramledger.model.load import load_model
    from vramledger.plan.profile import profile, profile_names
    from vramledger.report.tiers import tiers_json, to_text
    from vramledger.sizing.from_plan import of_text, with_cache
    from vramledger.sizing.tiers import tiers

    profiles = [profile(name) for name in profile_names()]
    model = of_text(with_cache(load_model(target)), "The request profiles")
    if model.weights_unknown is not None:
        raise CannotKnow(f"{target}: {model.weights_unknown}")
    found = tiers(target, model, profiles, version=asked.engine_version)
    if as_json:
        show_json(tiers_json(target, found))
    else:
        show(to_text(target, found))
    holds = any(cell.held for tier in found for cell in tier.cells)
    return ExitCode.HOLDS if holds else ExitCode.DOES_NOT_HOLD
