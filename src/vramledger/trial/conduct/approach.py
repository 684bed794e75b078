"""The way to a server: what it is, how its prompts are counted, and the load made for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import randbits
from typing import Final

from vramledger.errors import BadInput, CannotKnow, UnknownName, VramError
from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.client.single import fetch_one
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.load.job import PromptSettings
from vramledger.trial.load.prepare import LoadAsked, Prepared, prepare_load
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.prompts.body import BodyMaker, BodyStyle
from vramledger.trial.prompts.judgeable import (
    DECODE_LINES,
    Text,
    Unjudgeable,
    lines_of,
    unjudgeable,
    warnings,
)
from vramledger.trial.prompts.lengths import length_control
from vramledger.trial.prompts.lexicon import Lexicon
from vramledger.trial.prompts.settle import Counters, settle
from vramledger.trial.server import ServerFacts, ask_server
from vramledger.trial.server.asking import Asker
from vramledger.trial.wire.failures import named
from vramledger.trial.wire.target import Target, key_of
from vramledger.workload.challenge import salt_of

_SALT_BITS: Final = 64
_SOME_TOKENS: Final = 4
_NO_SUCH: Final = "http_404"
_DRAFTS: Final = frozenset({"speculative-config", "speculative-model", "speculative-algorithm"})
_STRUCTURED: Final = frozenset(
    {"response_format", "structured_outputs", "guided_json", "guided_regex", "guided_grammar", "guided_choice", "tools"}
)  # fmt: skip


@frozen
class Approached:
    """A server that answers, and the load for it. `said` is who counted prompts; `effects` what forced lengths do besides.

    `unjudgeable` are the contract's lines that this text cannot decide. `tokenizer` is the file that counts answers, where the
    server does not.
    """

    facts: ServerFacts
    target: Target
    prepared: Prepared
    said: str
    effects: tuple[str, ...]
    warnings: tuple[str, ...]
    unjudgeable: tuple[Unjudgeable, ...] = ()
    tokenizer: str | None = None


def key_for(asked: TrialAsked) -> str | None:
    """The server's key.

    Raises:
        BadInput: it is not where it should be.
    """
    return key_of(Target("", key_env=asked.key_env, key_file=asked.key_file))


def approach(asked: TrialAsked, folder: Path) -> Approached:
    """Ask the server, settle on a way to count tokens, make the load; files of the load go into `folder`.

    Raises:
        BadInput: the server cannot be reached or does not accept the key, or the load cannot be made.
        UnknownName: a scenario that is none, or a model that is not served.
        CannotKnow: lengths cannot be made exact, or the workload lacks what is needed.
    """
    key = key_for(asked)
    facts = ask_server(asked.url, key, metrics_url=asked.metrics_url, server_log=asked.server_log)
    control = length_control(facts.engine)
    style = BodyStyle(
        asked.api, _model(asked, facts), control.limit, control.fields(asked.api), asked.body
    )
    target = Target(facts.base, style.path, key_env=asked.key_env, key_file=asked.key_file)
    with _naming_the_served(style.model, facts):
        lexicon = None if asked.prompts else _lexicon(asked, style, target, Asker(facts.base, key))
    own = None if asked.prompts is None else str(asked.prompts.absolute())
    settings = PromptSettings(style, lexicon, _salt(asked), own)
    wanted = LoadAsked(
        asked.part, settings, asked.seed, asked.closed, asked.duration_s, _context(facts)
    )
    prepared = prepare_load(wanted, folder)
    return Approached(
        facts,
        target,
        prepared,
        "Prompts are those of your file." if lexicon is None else lexicon.said,
        control.effects if style.is_exact or not control.fields(asked.api) else (),
        tuple(_warnings(asked, facts)),
        unjudgeable(text_of(asked, facts), _judged(asked.contract)),
        _counts_answers(asked, style, target),
    )


def _salt(asked: TrialAsked) -> int:
    """That of the buyer's challenge, else one that no run had."""
    return randbits(_SALT_BITS) if asked.challenge is None else salt_of(asked.challenge)


def _model(asked: TrialAsked, facts: ServerFacts) -> str:
    name = asked.model or facts.model
    if name is None:
        raise BadInput(
            f"{facts.base} lists no model at /v1/models; correct the address if the API is elsewhere, and else name the model "
            "to ask for with --model NAME."
        )
    return name


def _lexicon(asked: TrialAsked, style: BodyStyle, target: Target, ask: Asker) -> Lexicon:
    """The words of prompts, checked by what the server counts for a few requests."""

    def fetch(body: bytes) -> int | None:
        return _counted(target, body)

    return settle(Counters(style, fetch, ask, asked.tokenizer, asked.token_ids))


def _counts_answers(asked: TrialAsked, style: BodyStyle, target: Target) -> str | None:
    """The tokenizer's file, where one is given and an answer of some words is counted by nobody else."""
    if asked.tokenizer is None:
        return None
    found = _answered(target, BodyMaker(style).with_text(b"the", _SOME_TOKENS))
    told = found.tokens_basis in ("usage", "logprobs")
    return None if told else str(asked.tokenizer.absolute())


def _counted(target: Target, body: bytes) -> int | None:
    return _answered(target, body).input_tokens_got


def _answered(target: Target, body: bytes) -> RequestRecord:
    record = fetch_one(target, PlannedRequest(0, None, None, body, None, None, exact=False))
    if record.outcome is not Outcome.OK:
        why = named(record.error_class).sentence if record.error_class else "It gave no reason."
        kind = _NotFound if record.error_class == _NO_SUCH else CannotKnow
        raise kind(
            f"The server did not answer a request of a few words ({record.error_class or record.outcome}): {why}"
        )
    return record


class _NotFound(CannotKnow):
    """The server knows no such path or model."""


@contextmanager
def _naming_the_served(model: str, facts: ServerFacts) -> Iterator[None]:
    """Says what is served where a model that is not listed was not found; adapters answer without being listed.

    Raises:
        UnknownName: in place of that failure.
    """
    try:
        yield
    except _NotFound:
        listed = [each.name for each in facts.models]
        if not listed or model in listed:
            raise
        served = f"{facts.base} serves {', '.join(listed)}."
        raise UnknownName("model", model, listed, "--model", served) from None


def _context(facts: ServerFacts) -> int | None:
    """The most tokens of a request, prompt and answer; None where the server does not tell."""
    found = facts.seen.arguments.get("max-model-len")
    return found if isinstance(found, int) else None


def text_of(asked: TrialAsked, facts: ServerFacts) -> Text:
    """What the trial sends, and what is known of the server that reads it."""
    settings = [facts.seen.arguments, (asked.asked.arguments or {}) if asked.asked else {}]
    drafts = any(_DRAFTS & set(each) for each in settings)
    return Text(
        is_real=asked.prompts is not None,
        drafts=drafts or facts.speculative,
        experts=_has_experts(asked, facts),
        acceptance_set=asked.acceptance_length,
        structured=bool(_STRUCTURED & set(asked.body)),
    )


def _has_experts(asked: TrialAsked, facts: ServerFacts) -> bool | None:
    """By the model's configuration, where this machine or the catalogue has it."""
    from vramledger.model.load import load_model

    named = [asked.asked.model if asked.asked else None, facts.seen.model, facts.model]
    for name in dict.fromkeys(each for each in named if each):
        try:
            return load_model(name).text.experts is not None
        except (VramError, OSError):  # another name may be known, and none of them is no failure
            continue
    return None


def _judged(contract: Contract | None) -> tuple[str, ...]:
    """The lines that will be judged; without a contract, all that could be."""
    return DECODE_LINES if contract is None else lines_of(contract)


def _warnings(asked: TrialAsked, facts: ServerFacts) -> Iterator[str]:
    from vramledger.trial.server.differences import differences

    yield from warnings(text_of(asked, facts))
    if asked.asked is not None:
        yield from differences(asked.asked, facts.deployment())
