"""What a sweep may set: any flag of the engine, and the parts of the question around it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Final

from vramledger.engine.launch import Argument
from vramledger.engine.vllm.command import parse
from vramledger.engine.vllm.flags import Arity, FlagMatch, Kind, flag_table
from vramledger.engine.vllm.versions import rules_for
from vramledger.errors import BadInput, UnknownName
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.point import Point
from vramledger.simulate.planned import planned
from vramledger.simulate.policies import VLLM, policy_named
from vramledger.simulate.routing.registry import ROUTERS
from vramledger.simulate.run import Question
from vramledger.units import parse_count
from vramledger.workload.scenarios import DEFINITIONS

OPTION: Final = "--set"
VERSION: Final = "engine-version"
TENSOR: Final = "tensor-parallel-size"
DATA: Final = "data-parallel-size"
KV: Final = "kv-cache-dtype"
SEQUENCES: Final = "max-num-seqs"
BUDGET: Final = "max-num-batched-tokens"
_MODEL: Final = "model"
_MOST_RATE: Final = 1000.0
_MOST_REPLICAS: Final = 1024
_MOST_IN_FLIGHT: Final = 1_000_000
_TRUE: Final = frozenset({"true", "1", "yes", "on"})
_OF_ALL: Final = {
    "workload": "a sweep has one workload; run another sweep for another",
    "limit": "a sweep has one contract; give it with --limit",
    "coefficients": "a sweep has one set of step times; give it with --coefficients",
    "headroom": "it decides the safe load, which a sweep does not look at",
    "kv-link-gib-s": "a sweep has one link; give it with --kv-link-gib-s",
    "kv-link-ms": "a sweep has one link; give it with --kv-link-ms",
    "price": "prices change nothing that is simulated; give them with --price",
}
_NUMBERS: Final = frozenset({Kind.INTEGER, Kind.COUNT, Kind.NUMBER})
_WORDS: Final = frozenset({"auto", "none"})  # that stand for a number that the engine finds
_FALSE: Final = frozenset({"false", "0", "no", "off"})


def canonical_name(name: str, base: Base, others: Iterable[str] = ()) -> str:
    """The one name of a setting: a part of the question, or a flag's whole name.

    Abbreviations, short forms and underscores are taken as the engine's own parser takes them.
    `others` are the names beside it: with the engine's version among them, a flag of another release
    is no mistake yet.

    Raises:
        BadInput: a flag this version does not accept, or an abbreviation of several.
        UnknownName: no release has such a flag.
    """
    plain = name.strip().lstrip("-").replace("_", "-")
    if plain in PARTS:
        return plain
    if plain in _OF_ALL:
        raise BadInput(f"{OPTION} {plain} cannot be set: {_OF_ALL[plain]}.")
    found = _flag(plain, base.question)
    if found.refused and VERSION not in {other.replace("_", "-") for other in others}:
        raise BadInput(f"{OPTION} {plain} cannot be set: {found.refused}.")
    if found.negated:
        raise BadInput(
            f"{OPTION} {plain} is the negation of a flag; write {OPTION} {found.spec.name}=true,false."
        )
    return found.spec.name


def changed(base: Base, point: Point) -> Question:
    """The question of a point.

    Raises:
        BadInput: a value that is none of its setting.
        UnknownName: a card, model, version or scenario that is none.
    """
    question = base.question
    flags: dict[str, str] = {}
    for change in point.changes:
        part = PARTS.get(change.name)
        if part is None:
            flags[change.name] = change.value
        else:
            question = part(base, question, change.value)
    _refuse_pairs(question)
    return _with_flags(question, flags)


def _refuse_pairs(question: Question) -> None:
    """Refuse parts of a question that exclude each other, which a grid may bring together."""
    serving = question.serving
    if serving.closed is not None and question.part.rate_scale != 1:
        raise BadInput(
            "closed sends a request when another ends, so there are no arrivals for rate-scale to scale; "
            "set one of the two."
        )
    if question.policy != VLLM and not serving.is_plain:
        raise BadInput(
            f"The policy {question.policy} takes engines one by one; it goes with no router that looks, no "
            "closed loop and no prefill servers."
        )


def _flag(name: str, question: Question) -> FlagMatch:
    version = question.case.version or question.case.launch.version
    table = flag_table(rules_for(version).release)
    short = f"-{name}"
    return table.find(short if table.knows(short) else f"--{name}", OPTION)


def _with_flags(question: Question, flags: Mapping[str, str]) -> Question:
    """The launch with these flags in place of its own of those names, as its engine reads them."""
    if not flags:
        return question
    case, own = question.case, question.case.launch
    words = tuple(
        Argument(word) for name, value in flags.items() for word in _words(name, value, question)
    )
    read = parse(replace(own, arguments=words, where=OPTION), case.version or own.version)
    kept = tuple(flag for flag in own.flags if flag.name not in flags)
    launch = replace(own, flags=(*kept, *read.flags), arguments=(*own.arguments, *words))
    return replace(question, case=replace(case, launch=launch))


def _words(name: str, value: str, question: Question) -> tuple[str, ...]:
    spec = _flag(name, question).spec
    if spec.arity is Arity.NONE:
        on = _is_on(name, value)
        if spec.kind is Kind.BOOLEAN:
            return (f"--{name}" if on else f"--no-{name}",)
        return (f"--{name}",) if on else ()
    if spec.arity is Arity.MANY:
        return (f"--{name}", *value.split())
    return (f"--{name}={value}",)


def refuse_no_number(name: str, value: str, base: Base) -> None:
    """Refuse what is no number where a flag takes one; whether it is in range the engine's rules say.

    Raises:
        BadInput: it is none.
    """
    kind = _flag(name, base.question).spec.kind
    if value.strip().casefold() in _WORDS or kind not in _NUMBERS:
        return
    try:
        float(value)
    except ValueError:
        if kind is Kind.NUMBER:
            raise BadInput(f"{OPTION} {name} has the value {value}, which is no number.") from None
        parse_count(value.strip(), f"{OPTION} {name}")


def _is_on(name: str, value: str) -> bool:
    folded = value.casefold()
    if folded not in _TRUE | _FALSE:
        raise BadInput(f"{OPTION} {name} has the value {value}; it is a switch: true or false.")
    return folded in _TRUE


def _gpu(_base: Base, question: Question, value: str) -> Question:
    card = accelerator_for(value, where=f"{OPTION} gpu")
    return replace(question, case=replace(question.case, accelerator=card))


def _version(_base: Base, question: Question, value: str) -> Question:
    rules_for(value)  # an unknown one is refused here
    case = question.case
    launch = replace(parse(case.launch, value), model=case.launch.model)  # it may lack a flag
    return replace(question, case=replace(case, launch=launch, version=value))


def _model(_base: Base, question: Question, value: str) -> Question:
    launch = replace(question.case.launch, model=value)
    return replace(question, case=replace(question.case, launch=launch, model=model_of(launch)))


def _rate(_base: Base, question: Question, value: str) -> Question:
    rate = _number(value, "rate-scale")
    if not (isfinite(rate) and 0 < rate <= _MOST_RATE):
        raise BadInput(
            f"{OPTION} rate-scale has the value {value}; it is a factor on the arrivals above 0 and up "
            f"to {_MOST_RATE:g}."
        )
    return replace(question, part=replace(question.part, rate_scale=rate))


def _replicas(_base: Base, question: Question, value: str) -> Question:
    return replace(question, replicas=_count(value, "replicas", _MOST_REPLICAS))


def _closed(_base: Base, question: Question, value: str) -> Question:
    """So many requests in flight; their own arrivals, and a factor on them, no longer count."""
    serving = replace(question.serving, closed=_count(value, "closed", _MOST_IN_FLIGHT))
    return replace(question, serving=serving, part=replace(question.part, rate_scale=1.0))


def _router(_base: Base, question: Question, value: str) -> Question:
    if value not in ROUTERS:
        raise UnknownName("router", value, ROUTERS, f"{OPTION} router")
    return replace(question, serving=replace(question.serving, router=value))


def _prefill(_base: Base, question: Question, value: str) -> Question:
    """So many servers that compute prompts only, over the link that the base states; 0 for none."""
    split = question.serving.split
    if value.strip() == "0":
        return replace(question, serving=replace(question.serving, split=None))
    if split is None:
        raise BadInput(
            f"{OPTION} prefill-servers={value} has no link to its decode servers; give the base one with "
            "--prefill-servers and --kv-link-gib-s; the value 0 is none."
        )
    split = replace(split, prefill=_count(value, "prefill-servers", _MOST_REPLICAS))
    return replace(question, serving=replace(question.serving, split=split))


def _acceptance(_base: Base, question: Question, value: str) -> Question:
    rate = _number(value, "acceptance")
    if not 0 <= rate <= 1:
        raise BadInput(
            f"{OPTION} acceptance has the value {value}; it is a share of the drafts, from 0 to 1."
        )
    return replace(question, acceptance=rate)


def _count(value: str, name: str, most: int) -> int:
    count = _number(value, name)
    if not (1 <= count <= most and count.is_integer()):
        raise BadInput(
            f"{OPTION} {name} has the value {value}; it is a whole number from 1 to {most:,}."
        )
    return int(count)


def _number(value: str, name: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise BadInput(f"{OPTION} {name} has the value {value}, which is no number.") from None


def _scenario(base: Base, question: Question, value: str) -> Question:
    """A slice of the workload; of a plan, its scenario with its own load and contract."""
    if base.plan is None:
        return replace(question, scenario=value, part=replace(question.part, scenario=value))
    plan = planned(base.plan, value)
    if not base.workload_given and plan.workload != question.part.workload:
        raise BadInput(
            f"{OPTION} scenario={value} has another workload than the base, and a sweep has one; sweep "
            "it on its own with --scenario."
        )
    part = replace(
        question.part,
        scenario=value if value in DEFINITIONS else None,
        rate_scale=question.part.rate_scale if base.rate_given else plan.rate_scale,
    )
    return replace(question, scenario=value, part=part, contract=base.with_limits(plan.contract))


def _policy(_base: Base, question: Question, value: str) -> Question:
    policy_named(value)  # an unknown one is refused here
    return replace(question, policy=value)


PARTS: Final[dict[str, Callable[[Base, Question, str], Question]]] = {
    VERSION: _version,
    _MODEL: _model,
    "gpu": _gpu,
    "rate-scale": _rate,
    "replicas": _replicas,
    "router": _router,
    "closed": _closed,
    "policy": _policy,
    "prefill-servers": _prefill,
    "acceptance": _acceptance,
    "scenario": _scenario,
}
