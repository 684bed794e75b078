"""From the checked shape of a plan file to the requirement it states."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.plan import cards
from vramledger.plan.contract import contract
from vramledger.plan.document import PlanPart, ScenarioPart
from vramledger.plan.problems import NotStated, PlanProblems, in_order
from vramledger.plan.requirement import (
    EngineChoice,
    Form,
    Kind,
    QualityEvidence,
    Requirement,
    Scenario,
)
from vramledger.plan.workload import check_stated, lengths, load, written
from vramledger.yaml_text import YamlText

T = TypeVar("T")
Known: TypeAlias = Callable[[str], object]
_ENGINES: Final = ("vllm",)
_OTHER_ENGINES: Final = ("sglang", "tensorrt-llm", "tgi", "llama.cpp", "lmdeploy")
_ONLY_SCENARIO: Final = ScenarioPart(kind="latency")


@dataclass(slots=True)
class _Collected:
    """Problems and assumptions met on the way; a part that fails does not hide the others."""

    bad: list[BadInput] = field(default_factory=list)
    unknown: list[CannotKnow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def attempt(self, part: Callable[[], T]) -> T | None:
        try:
            return part()
        except BadInput as error:
            self.bad.append(error)
        except CannotKnow as error:
            self.unknown.append(error)
        return None

    def all_of(self, parts: list[Callable[[], T | None]]) -> tuple[T, ...]:
        found = [self.attempt(part) for part in parts]
        return tuple(value for value in found if value is not None)

    def problems(self, *, stated_only: bool = False) -> tuple[str, ...]:
        """Every sentence; `stated_only` leaves out those about what is not stated."""
        told: list[str] = []
        for error in self.bad:
            if isinstance(error, PlanProblems):
                told += error.problems
            elif not (stated_only and isinstance(error, NotStated)):
                told.append(str(error))
        return tuple(told)

    def stop_at_problems(self, text: YamlText) -> None:
        if self.bad:
            raise PlanProblems(in_order(self.problems(), text), text.name)
        if self.unknown:
            raise self.unknown[0]


def problems_of(plan: PlanPart, text: YamlText, known: Known | None = None) -> tuple[str, ...]:
    """What is wrong with the readable rest of a plan; what it does not state is not told."""
    met = _Collected()
    _built(plan, text, known, met)
    return met.problems(stated_only=True)


def build(plan: PlanPart, text: YamlText, known: Known | None = None) -> Requirement:
    """The requirement. `known` raises BadInput for a model's name that is none.

    Raises:
        PlanProblems: parts contradict each other or name what is not known; all are told.
        CannotKnow: a part is sound but not supported yet.
    """
    met = _Collected()
    requirement = _built(plan, text, known, met)
    met.stop_at_problems(text)
    return requirement


def _built(plan: PlanPart, text: YamlText, known: Known | None, met: _Collected) -> Requirement:
    """The requirement as far as its parts are sound; `met` holds what is wrong."""
    met.attempt(lambda: _model(plan, text, known))
    met.attempt(lambda: check_stated(written(plan.workload, ("workload",)), text))
    engine = met.attempt(lambda: _engine(plan, text))
    own = plan.scenarios or {"all": _ONLY_SCENARIO}
    scenarios = met.all_of([_later(_scenario, plan, name, own[name], text, met) for name in own])
    sheets = {
        sheet.name: sheet
        for sheet in met.all_of(
            [
                _later(cards.from_sheet, part, ("hardware", index), text)
                for index, part in enumerate(plan.hardware)
            ]
        )
    }
    named = met.all_of(
        [
            _later(cards.card, name, ("gpus", index), sheets, text)
            for index, name in enumerate(plan.gpus)
        ]
    )
    prices = met.all_of(
        [_later(cards.price, name, given, sheets, text) for name, given in plan.prices.items()]
    )
    currency = met.attempt(lambda: cards.one_currency(prices, text))
    return Requirement(
        name=plan.name,
        form=Form(plan.form),
        model=plan.model,
        weights=tuple(dict.fromkeys(plan.weights)),
        kv_dtypes=tuple(dict.fromkeys(plan.kv_dtype)),
        engine=engine or EngineChoice(),
        scenarios=scenarios,
        accelerators=tuple(dict.fromkeys((*named, *sheets.values()))),
        prices={given.card: given.per_hour for given in prices},
        currency=currency or "",
        quality=QualityEvidence(
            plan.quality.shadow,
            plan.quality.min_agreement,
            plan.quality.lm_eval,
            dict(plan.quality.least),
        ),
        notes=tuple(dict.fromkeys(met.notes)),
        source=text.name,
    )


def _model(plan: PlanPart, text: YamlText, known: Known | None) -> None:
    if known is None or not plan.model:
        return
    try:
        known(plan.model)
    except BadInput as error:
        raise BadInput(f"{text.place(('model',))}: model: {error}") from error


def _later(call: Callable[..., T], *arguments: object) -> Callable[[], T]:
    return lambda: call(*arguments)


def _engine(plan: PlanPart, text: YamlText) -> EngineChoice:
    name, place = plan.engine.name, text.place(("engine", "name"))
    if name in _OTHER_ENGINES:
        raise CannotKnow(
            f"{place}: the engine {name} is known but its memory rules are not in this version; "
            f"supported is {', '.join(_ENGINES)}."
        )
    if name not in _ENGINES:
        raise UnknownName("engine", name, (*_ENGINES, *_OTHER_ENGINES), place)
    where = text.place(("engine", "args"))
    return EngineChoice(name, plan.engine.version, _arguments(plan.engine.args), where)


def _arguments(args: dict[str, str | int | float | bool | None]) -> dict[str, str | None]:
    """Canonical names; ``true`` is a switch, ``false`` its ``no-`` form."""
    found: dict[str, str | None] = {}
    for written_name, value in args.items():
        name = written_name.lstrip("-").replace("_", "-")
        if isinstance(value, bool):
            found[name if value else f"no-{name}"] = None
        else:
            found[name] = None if value is None else str(value)
    return found


def _scenario(
    plan: PlanPart, name: str, part: ScenarioPart, text: YamlText, met: _Collected
) -> Scenario | None:
    path = ("scenarios", name)
    own = [] if part.workload is None else [written(part.workload, (*path, "workload"))]
    places = (*own, written(plan.workload, ("workload",)))
    kind = Kind(part.kind)
    known = met.attempt(lambda: lengths(places, text, name))
    carried = met.attempt(lambda: load(places, text, name))
    agreed = met.attempt(lambda: contract(part.contract, kind, (*path, "contract"), text))
    if known is None or carried is None or agreed is None:
        return None
    met.notes += known.notes
    kept = plan.headroom if part.headroom is None else part.headroom
    return Scenario(
        name=name,
        kind=kind,
        lengths=known.distribution,
        load=carried,
        hours=part.hours,
        headroom=None if isinstance(kept, str) else kept,
        contract=agreed,
        profile=known.profile,
        recorded=known.recorded,
    )
