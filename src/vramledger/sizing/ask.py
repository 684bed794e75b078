"""What a person types after ``vram size``, turned into a question."""

from dataclasses import replace
from math import isfinite
from pathlib import Path

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import accelerators, find
from vramledger.model.load import load_model
from vramledger.plan.profile import profile
from vramledger.plan.requirement import Contract, Load, LoadUnit, Scenario
from vramledger.sizing.from_plan import of_text, precisions, with_cache
from vramledger.sizing.from_workload import names_a_workload, scenarios_of
from vramledger.sizing.limits import MOST_REFUSED, limit_for, within
from vramledger.sizing.loads import load_notes, need_of
from vramledger.sizing.offered import offered
from vramledger.sizing.pairs import parse_factors, prices_of
from vramledger.sizing.question import Question
from vramledger.sizing.served import served
from vramledger.sizing.thinking_outputs import thinking_warnings
from vramledger.units import plain

_DEFAULT_PROFILE = "chat"
_MOST = 1e9
_STATE_A_LOAD = (
    "State the load once: --users (people with access), --concurrent (requests in flight) or --rate "
    "(requests per second); or name a recorded one with --workload."
)
_OTHER_MODEL = (
    "choose a model of longer context, or state which share served is enough (--success 0.99, or a "
    "plan's contract)"
)
_OTHER_LENGTHS = (
    "take another --profile, state your own lengths in a plan, or choose a model of longer context"
)


@frozen
class Asked:
    """The options of the verb, as given."""

    users: int | None = None
    concurrent: float | None = None
    rate: float | None = None
    profile: str | None = None
    gpus: tuple[str, ...] = ()
    prices: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    kv: tuple[str, ...] = ()
    factors: tuple[str, ...] = ()
    headroom: float | None = None
    engine_version: str | None = None
    workload: str | None = None
    rate_scale: float | None = None
    limits: bool = False
    success: float | None = None
    from_run: str | None = None


@frozen
class _AskedFor:
    """The scenarios of the options, where they come from, and the share they may have refused."""

    scenarios: tuple[Scenario, ...]
    where: str
    may_refuse: float
    mend: str  # what to do where more would have to be refused
    notes: tuple[str, ...] = ()


def question_from(model_name: str, asked: Asked) -> Question:
    """A question from a model's name and the options.

    Raises:
        BadInput: no load or several, a number out of range, a card or profile that is not known.
        CannotKnow: a model whose cache is not known.
    """
    load = _load(asked)
    model = of_text(with_cache(load_model(model_name)), "The request profiles")
    asked_for = _scenarios(asked, load)
    most, where = model.text.max_positions, asked_for.where
    kept = [within(scenario.lengths, most, scenario.name) for scenario in asked_for.scenarios]
    scenarios = tuple(
        replace(scenario, lengths=part.lengths)
        for scenario, part in zip(asked_for.scenarios, kept, strict=True)
    )
    prices = prices_of(asked.prices)
    weights = asked.weights or ("as-stored",)
    allowed, every = asked_for.may_refuse, offered(asked_for.scenarios)
    judged = [*kept, *(part for part in (every.kept(most),) if part is not None)]
    return Question(
        model_name=model_name,
        model=model,
        needs=tuple(need_of(scenario) for scenario in scenarios),
        accelerators=_cards(asked.gpus),
        open_cards=not asked.gpus,
        max_model_len=limit_for(max(part.lengths.longest for part in judged), model, where),
        precisions=precisions(weights, asked.kv or ("auto",)),
        served={w: served(model_name, model, w, "--precision") for w in weights},
        engine_version=asked.engine_version,
        prices=prices.per_hour,
        currency=prices.currency,
        offered=every,
        scenarios=scenarios,
        limits=asked.limits,
        warnings=tuple(thinking_warnings(model_name, asked_for.scenarios)),
        notes=(
            *asked_for.notes,
            *(note for scenario in scenarios for note in load_notes(scenario)),
            *(note for part in judged for note in part.notes(model.id, most, allowed)),
        ),
        unmet=tuple(
            said for part in judged for said in part.unmet(model.id, most, allowed, asked_for.mend)
        ),
    )


def narrowed(question: Question, asked: Asked) -> Question:
    """A plan's question with the options that narrow it: cards, prices, precisions, version.

    Raises:
        BadInput: an option says again what the plan states, or prices differ in currency.
    """
    stated = (
        asked.users, asked.concurrent, asked.rate, asked.profile, asked.workload, asked.rate_scale,
        asked.success, asked.from_run,
    )  # fmt: skip
    if any(value is not None for value in stated) or asked.factors:
        raise BadInput(
            "The plan states the load, its lengths and its contract; leave out --users, --concurrent, "
            "--rate, --rate-scale, --profile, --workload, --from-run, --success and --factor."
        )
    prices = prices_of(asked.prices)
    if prices.per_hour and question.prices and prices.currency != question.currency:
        raise BadInput(
            "--price and the plan's prices are in different currencies; rates are not converted."
        )
    weights = asked.weights or tuple(dict.fromkeys(p.weights for p in question.precisions))
    kv = asked.kv or tuple(dict.fromkeys(p.kv for p in question.precisions))
    kept = _headroom(asked.headroom)
    name, model = question.model_name, question.model
    return replace(
        question,
        accelerators=_cards(asked.gpus) if asked.gpus else question.accelerators,
        open_cards=question.open_cards and not asked.gpus,
        prices={**question.prices, **prices.per_hour},
        currency=prices.currency or question.currency,
        precisions=precisions(weights, kv),
        served={w: served(name, model, w, "--precision") for w in weights},
        engine_version=asked.engine_version or question.engine_version,
        limits=asked.limits,
        needs=question.needs
        if kept is None
        else tuple(replace(need, headroom=kept) for need in question.needs),
    )


def _headroom(value: float | None) -> float | None:
    if value is not None and not 0 <= value < 1:
        raise BadInput(f"--headroom is {value:g}; it must be from 0 to below 1.")
    return value


def _contract(success: float | None) -> Contract:
    if success is not None and not 0 < success <= 1:
        raise BadInput(f"--success is {success:g}; it is a share, above 0 and at most 1.")
    return Contract(success=success)


def _cards(names: tuple[str, ...]) -> tuple[Accelerator, ...]:
    """The cards of those names, each once; all of the catalogue where none is given."""
    if not names:
        return accelerators()
    return tuple(dict.fromkeys(find(name, "--gpu") for name in names))


def _scenarios(asked: Asked, load: Load | None) -> _AskedFor:
    """The scenarios of a recorded workload, or the one of a shipped profile.

    Raises:
        BadInput: both are named, or growth is asked of what is not recorded.
    """
    headroom, contract = _headroom(asked.headroom), _contract(asked.success)
    refused = None if contract.success is None else 1.0 - contract.success
    file = _workload(asked)
    if asked.from_run is not None:
        from vramledger.sizing.from_run import scenario_of_run

        _refuse_beside_a_run(asked, load)
        held = scenario_of_run(Path(asked.from_run), headroom, contract)
        where = f"The run {asked.from_run}"
        return _AskedFor((held.scenario,), where, refused or 0.0, _OTHER_MODEL, held.notes)
    if file is not None:
        scale = 1.0 if asked.rate_scale is None else asked.rate_scale
        found = scenarios_of(file, load, scale, headroom, contract)
        where = f"The workload {file}"
        return _AskedFor(found.scenarios, where, refused or 0.0, _OTHER_MODEL, found.notes)
    if load is None:
        raise BadInput(_STATE_A_LOAD)
    shape = profile(asked.profile or _DEFAULT_PROFILE, "--profile")
    scenario = Scenario(
        shape.name, shape.kind, shape.lengths, load, headroom=headroom, contract=contract
    )
    may_refuse = MOST_REFUSED if refused is None else refused
    return _AskedFor((scenario,), f"The profile {shape.name}", may_refuse, _OTHER_LENGTHS)


def _refuse_beside_a_run(asked: Asked, load: Load | None) -> None:
    if load is not None or asked.profile is not None or asked.workload is not None:
        raise BadInput(
            "--from-run takes load and lengths from what a trial held; leave out --users, --concurrent, --rate, --profile "
            "and --workload."
        )


def _workload(asked: Asked) -> str | None:
    """The file of recorded requests, which --profile may name too; None without one.

    Raises:
        BadInput: it is named twice, or --rate-scale has nothing to multiply.
    """
    by_profile = asked.profile is not None and names_a_workload(asked.profile)
    file = asked.profile if by_profile else asked.workload
    if asked.workload is not None and asked.profile is not None:
        raise BadInput("--workload and --profile both give lengths; leave one of them out.")
    if asked.rate_scale is None:
        return file
    if file is None or any(v is not None for v in (asked.users, asked.concurrent, asked.rate)):
        raise BadInput(
            "--rate-scale multiplies the arrivals of a recorded workload; give it with --workload and "
            "without --users, --concurrent or --rate."
        )
    if not (isfinite(asked.rate_scale) and 0 < asked.rate_scale <= _MOST):
        raise BadInput(
            f"--rate-scale is {plain(asked.rate_scale)}; it must be above 0 and at most 1e9."
        )
    return file


def _load(asked: Asked) -> Load | None:
    """The load that was stated; None leaves it to a recorded workload.

    Raises:
        BadInput: it is stated several times, out of range, or --factor has no people to change.
    """
    given = {
        LoadUnit.USERS: asked.users,
        LoadUnit.CONCURRENT: asked.concurrent,
        LoadUnit.REQUESTS_PER_S: asked.rate,
    }
    stated = {unit: amount for unit, amount in given.items() if amount is not None}
    if not stated and not asked.factors:
        return None
    if len(stated) != 1:
        raise BadInput(_STATE_A_LOAD)
    unit, amount = next(iter(stated.items()))
    if not (isfinite(amount) and 0 < amount <= _MOST):
        raise BadInput(f"The load is {plain(amount)}; it must be above 0 and at most 1e9.")
    if asked.factors and unit is not LoadUnit.USERS:
        raise BadInput("--factor changes how people become requests; give it with --users.")
    return Load(
        unit=unit,
        amount=float(amount),
        factors=parse_factors(asked.factors),
        basis=Basis.ASSUMED,
        source="the command line",
    )
