"""From the checked shape of a plan file to the requirement it states."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.plan import cards
from vramledger.plan.contract import contract
from vramledger.plan.document import PlanPart, ScenarioPart
from vramledger.plan.problems import PlanProblems
from vramledger.plan.requirement import (
    EngineChoice,
    Form,
    Kind,
    QualityEvidence,
    Requirement,
    Scenario,
)
from vramledger.plan.workload import lengths, load, written
from vramledger.yaml_text import YamlText

T = TypeVar("T")
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

    def all_of(self, parts: list[Callable[[], T]]) -> tuple[T, ...]:
        found = [self.attempt(part) for part in parts]
        return tuple(value for value in found if value is not None)

    def stop_at_problems(self, name: str) -> None:
        if self.bad:
            raise PlanProblems([str(error) for error in self.bad], name)
        if self.unknown:
            raise self.unknown[0]


def build(plan: PlanPart, text: YamlText) -> Requirement:
    """The requirement.

    Raises:
        PlanProblems: parts contradict each other or name what is not known; all are told.
        CannotKnow: a part is sound but not supported yet.
    """
    met = _Collected()
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
    met.stop_at_problems(text.name)
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
        quality=QualityEvidence(plan.quality.shadow, plan.quality.min_agreement),
        notes=tuple(dict.fromkeys(met.notes)),
        source=text.name,
    )


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
    return EngineChoice(name, plan.engine.version, _arguments(plan.engine.args))


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
) -> Scenario:
    path = ("scenarios", name)
    own = [] if part.workload is None else [written(part.workload, (*path, "workload"), text)]
    places = (*own, written(plan.workload, ("workload",), text))
    known = lengths(places, text)
    met.notes += known.notes
    kind = Kind(part.kind)
    kept = plan.headroom if part.headroom is None else part.headroom
    return Scenario(
        name=name,
        kind=kind,
        lengths=known.distribution,
        load=load(places, text),
        hours=part.hours,
        headroom=None if isinstance(kept, str) else kept,
        contract=contract(part.contract, kind, (*path, "contract"), text),
        profile=known.profile,
    )
