"""A comparison, whole: both servers are asked, and their answers compared."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.methods.shadow.answer import Answer
from vramledger.methods.shadow.asked import ServerAsked, ShadowAsked
from vramledger.methods.shadow.both_read import (
    INTERRUPTED,
    RECORDED,
    HowToRead,
    SameTextFigures,
    read_by_both,
    why_not,
    without,
)
from vramledger.methods.shadow.continuing import begun_recording, check_same
from vramledger.methods.shadow.figures import errors_of, figures_of
from vramledger.methods.shadow.intervals import ByPrompt
from vramledger.methods.shadow.pair import Pair, compare
from vramledger.methods.shadow.prompts import Prompts, built_in, own_prompts
from vramledger.methods.shadow.putting import Progress, counter, put_to_b, put_to_both, repeated_of
from vramledger.methods.shadow.reading import as_words
from vramledger.methods.shadow.recording import Recording, check_prompts, read_recording
from vramledger.methods.shadow.result import Shadow, Texts
from vramledger.methods.shadow.side import KNOWS_IDS, Side, Style, Told, differences
from vramledger.methods.shadow.verdict import noise_p, verdict_on
from vramledger.trial.wire.target import Target, key_of


@frozen
class Answered:
    """What B answered beside A's recording, and what both held of A's texts."""

    told: Told
    answers: tuple[Answer | None, ...]
    interrupted: bool
    same_text: SameTextFigures


def record_answers(asked: ShadowAsked, progress: Progress, path: Path) -> "tuple[Recording, bool]":
    """A's answers alone, and whether all of them came before an interruption; what an interrupted recording holds is not asked again.

    Raises:
        BadInput: the server or the prompts cannot be used, or `path` holds some of the answers to something else.
    """
    begun = begun_recording(path)
    if asked.a is None:
        raise BadInput("State the server whose answers are recorded with --a URL.")
    side, prompts = _side(asked.a, asked), prompts_of(asked)
    style = _style(asked)
    if begun is not None:
        repeated = repeated_of(len(prompts.listed), asked.repeat)
        check_same(begun, side.told, style, prompts, repeated, path)
    recording, _, whole = put_to_both(asked, side, None, prompts, style, progress, begun)
    return recording, whole


def compare_servers(asked: ShadowAsked, progress: Progress) -> Shadow:
    """The same prompts to both, at temperature 0.

    Raises:
        BadInput: a server, the prompts or the recording cannot be used.
        CannotKnow: the recording and B tell nothing that can be compared.
    """
    if asked.b is None:
        raise BadInput("State the server that is compared with --b URL.")
    prompts, b = prompts_of(asked), _side(asked.b, asked)
    if asked.recorded is not None:
        recording = read_recording(asked.recorded)
        check_prompts(recording, prompts, asked.recorded)
        answers, whole = put_to_b(asked, b, prompts, recording.style, progress)
        answered = Answered(b.told, answers, not whole, without(RECORDED))
        return _shadow(asked, prompts, recording, answered)
    if asked.a is None:
        raise BadInput("State the server to compare with: --a URL, or --a-recorded FILE.")
    a = _side(asked.a, asked)
    both = a.told.engine == b.told.engine == KNOWS_IDS
    style = replace(_style(asked), as_ids=both)
    recording, answers, whole = put_to_both(asked, a, b, prompts, style, progress)
    same = _same_text(asked, (a, b), recording, answers, progress) if whole else without(INTERRUPTED)  # fmt: skip
    answered = Answered(b.told, answers, not whole or same.interrupted, same)
    return _shadow(asked, prompts, recording, answered)


def _same_text(
    asked: ShadowAsked,
    sides: tuple[Side, Side],
    recording: Recording,
    answers: tuple[Answer | None, ...],
    progress: Progress,
) -> SameTextFigures:
    """What both hold of A's texts, where both tell it."""
    reason = why_not(sides[0].told, sides[1].told, recording.answers, answers)
    if reason or not asked.same_text:
        return without(reason or "it was not asked for")
    how = HowToRead(asked.top, asked.at_once, lambda of_all: counter(0, of_all, progress))
    return read_by_both(sides, recording.answers, recording.repeated, how, ByPrompt(asked.seed))


def prompts_of(asked: ShadowAsked) -> Prompts:
    """The prompts that are sent.

    Raises:
        BadInput: the file cannot be used, or there are not so many.
    """
    if asked.prompts is None:
        return built_in(asked.requests, asked.seed)
    return own_prompts(asked.prompts, asked.requests, asked.api)


def _style(asked: ShadowAsked) -> Style:
    return Style(asked.api, asked.max_tokens, asked.top, asked.seed)


def _side(asked: ServerAsked, whole: ShadowAsked) -> Side:
    key = key_of(Target(asked.url, key_env=asked.key_env, key_file=asked.key_file))
    return Side(asked.url, key, asked.model, whole.timeout_s)


def _shadow(asked: ShadowAsked, prompts: Prompts, a: Recording, b: Answered) -> Shadow:
    unit = _unit([*a.answers, *a.again, *b.answers], asked.recorded)
    ours, theirs = _in(unit, a.answers), _in(unit, b.answers)
    again = _in(unit, a.again)
    pairs = _pairs(range(len(ours)), ours, theirs)
    first = [ours[place] for place in a.repeated]
    found = figures_of(pairs, _failed(ours, theirs), ByPrompt(asked.seed))
    noise = figures_of(
        _pairs(a.repeated, first, again), _failed(first, again), ByPrompt(asked.seed)
    )
    return Shadow(
        a=a.told,
        b=b.told,
        style=a.style,
        source=prompts.source,
        prompts_sha256=prompts.sha256,
        requests=len(prompts.listed),
        answered=len(pairs),
        unsent=sum(x is None or y is None for x, y in zip(ours, theirs, strict=True)),
        errors_a=errors_of([*ours, *again]),
        errors_b=errors_of(theirs),
        found=found,
        noise=noise,
        noise_p=noise_p(found, noise),
        verdict=verdict_on(found, noise, asked.threshold),
        pairs=tuple(pairs),
        unit=unit,
        prompt_tokens_differ=_count_differently(ours, theirs),
        remarks=differences(a.told, b.told),
        texts=_texts(prompts, ours, theirs) if asked.keep_text else {},
        same_text=b.same_text,
        interrupted=b.interrupted,
    )


def _unit(answers: Sequence[Answer | None], recorded: Path | None) -> str:
    """Tokens where every answer has them, words where one has not."""
    units = {each.unit for each in answers if each is not None and each.ok and each.steps}
    if recorded is not None and len(units) > 1:
        raise CannotKnow(
            f"One of the servers tells tokens and the other text alone, and {recorded} keeps no text to compare; ask both "
            "at the same time with --a and --b."
        )
    return "words" if "words" in units else "tokens"


def _in(unit: str, answers: Sequence[Answer | None]) -> list[Answer | None]:
    return [
        as_words(each) if each is not None and each.ok and each.unit != unit else each
        for each in answers
    ]


def _pairs(
    numbers: Sequence[int], a: Sequence[Answer | None], b: Sequence[Answer | None]
) -> list[Pair]:
    return [
        compare(number, x, y)
        for number, x, y in zip(numbers, a, b, strict=True)
        if x is not None and y is not None and x.ok and y.ok
    ]


def _failed(a: Sequence[Answer | None], b: Sequence[Answer | None]) -> int:
    """Prompts that both were asked and one failed."""
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return sum(not (x.ok and y.ok) for x, y in both)


def _count_differently(a: Sequence[Answer | None], b: Sequence[Answer | None]) -> int | None:
    counts = [
        (x.prompt_tokens, y.prompt_tokens)
        for x, y in zip(a, b, strict=True)
        if x is not None and y is not None and None not in (x.prompt_tokens, y.prompt_tokens)
    ]
    return sum(x != y for x, y in counts) if counts else None


def _texts(
    prompts: Prompts, a: Sequence[Answer | None], b: Sequence[Answer | None]
) -> dict[int, Texts]:
    return {
        number: Texts(each if isinstance(each, str) else json.dumps(each), x.text, y.text)
        for number, (each, x, y) in enumerate(zip(prompts.listed, a, b, strict=True))
        if x is not None and y is not None and x.ok and y.ok
    }
