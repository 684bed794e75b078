"""A plan's requirement as a sizing question."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.hardware.catalogue import accelerators
from vramledger.model.load import load_model
from vramledger.model.model import Model, ModelKind
from vramledger.plan.requirement import Form, Requirement
from vramledger.sizing.candidate import Precision
from vramledger.sizing.engine_args import engine_arguments
from vramledger.sizing.limits import allowed_refusals, limit_for, within
from vramledger.sizing.loads import load_notes, need_of
from vramledger.sizing.offered import offered
from vramledger.sizing.quality import evidence_named
from vramledger.sizing.question import Question
from vramledger.sizing.served import served
from vramledger.sizing.thinking_outputs import thinking_of_plan

_MEND: Final = (
    "choose a model of longer context or shorter requests, or let the contract's success allow it"
)


def question_of(requirement: Requirement) -> Question:
    """The question a plan asks.

    Raises:
        CannotKnow: an engine that is not supported yet, or a model whose cache is not known.
        BadInput: a request longer than the model allows, or a load that cannot be read.
        UnknownName: a flag or precision that is none.
    """
    engine, where = requirement.engine, requirement.source
    if engine.name != "vllm":
        raise CannotKnow(
            f"{where}: candidates are made for vllm so far, not for {engine.name}; its memory rules "
            "are not known here."
        )
    model = with_cache(load_model(requirement.model))
    if any(scenario.profile for scenario in requirement.scenarios):
        of_text(model, f"{where}: the request profiles")
    return _question(requirement, model)


def _question(requirement: Requirement, model: Model) -> Question:
    engine, where = requirement.engine, requirement.source
    args = engine_arguments(engine.args, engine.version, engine.where or where)
    most = min(model.text.max_positions, args.max_model_len or model.text.max_positions)
    kept = [within(scenario.lengths, most, scenario.name) for scenario in requirement.scenarios]
    scenarios = [
        replace(scenario, lengths=part.lengths)
        for scenario, part in zip(requirement.scenarios, kept, strict=True)
    ]
    every = offered(requirement.scenarios)
    judged = [
        *((part, allowed_refusals(each)) for each, part in zip(scenarios, kept, strict=True)),
        *((part, every.may_turn_away) for part in (every.kept(most),) if part is not None),
    ]
    longest = max(part.lengths.longest for part, _ in judged)
    return Question(
        model_name=requirement.model,
        model=model,
        needs=tuple(need_of(scenario) for scenario in scenarios),
        accelerators=requirement.accelerators or accelerators(),
        open_cards=not requirement.accelerators,
        max_model_len=args.max_model_len or limit_for(longest, model, where),
        precisions=precisions(requirement.weights, requirement.kv_dtypes),
        served={w: served(requirement.model, model, w, where) for w in requirement.weights},
        engine_version=engine.version,
        extra_flags=args.flags,
        pinned=args.pinned,
        prices=requirement.prices,
        currency=requirement.currency,
        offered=every,
        scenarios=tuple(scenarios),
        folder=str(Path(where).parent),
        warnings=tuple(thinking_of_plan(requirement)),
        notes=(
            *requirement.notes,
            *(note for scenario in scenarios for note in load_notes(scenario)),
            *(note for part, allowed in judged for note in part.notes(model.id, most, allowed)),
            *evidence_named(requirement.quality, Path(where).parent),
            *_service_note(requirement),
        ),
        unmet=tuple(
            sentence
            for part, allowed in judged
            for sentence in part.unmet(model.id, most, allowed, _MEND)
        ),
    )


def precisions(weights: tuple[str, ...], kv: tuple[str, ...]) -> tuple[Precision, ...]:
    """Every weight precision with every cache type."""
    return tuple(Precision(each, cache) for each in weights for cache in kv)


def with_cache(model: Model) -> Model:
    """The model, if memory bounds what it holds at once.

    Raises:
        CannotKnow: its cache is not known, or it keeps none.
    """
    if model.require_cache():
        return model
    raise CannotKnow(
        f"{model.id} keeps no KV cache, so memory does not bound its requests in flight; vram "
        "ledger says what its weights and one batch take."
    )


def of_text(model: Model, what: str) -> Model:
    """The model, if its requests are text.

    Raises:
        CannotKnow: it transcribes speech, so that lengths of `what` are not those of its requests.
    """
    audio = any(tower.modality == "audio" for tower in model.towers)
    if model.kind is not ModelKind.ENCODER_DECODER or not audio:
        return model
    raise CannotKnow(
        f"{what} are lengths of text, but the requests of {model.id} are audio; state input_tokens "
        "and output_tokens of its decoder in a plan."
    )


def _service_note(requirement: Requirement) -> tuple[str, ...]:
    if requirement.form is not Form.MODEL_SERVICE:
        return ()
    said = (
        "The plan buys a model service: these cards are what its provider would need, which the "
        "buyer cannot check."
    )
    return (said,)
