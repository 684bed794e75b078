"""A comparison, whole: both servers are asked, and their answers compared."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Lock

from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.methods.shadow.answer import Answer
from vramledger.methods.shadow.asked import ServerAsked, ShadowAsked
from vramledger.methods.shadow.asking import Asking, ask_all
from vramledger.methods.shadow.continuing import begun_recording, check_same
from vramledger.methods.shadow.figures import errors_of, figures_of
from vramledger.methods.shadow.intervals import ByPrompt
from vramledger.methods.shadow.pair import Pair, compare
from vramledger.methods.shadow.prompts import Prompts, built_in, own_prompts
from vramledger.methods.shadow.reading import as_words
from vramledger.methods.shadow.recording import Recording, check_prompts, read_recording
from vramledger.methods.shadow.result import Shadow, Texts
from vramledger.methods.shadow.side import KNOWS_IDS, Side, Style, Told, differences
from vramledger.methods.shadow.verdict import noise_p, verdict_on
from vramledger.trial.wire.target import Target, key_of

Progress = Callable[[int, int], None]  # answers so far, of all


@frozen
class Answered:
    """What B answered beside A's recording."""

    told: Told
    answers: tuple[Answer | None, ...]
    interrupted: bool


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
        repeated = _repeated(len(prompts.listed), asked.repeat)
        check_same(begun, side.told, style, prompts, repeated, path)
    recording, _, whole = _ask(asked, side, None, prompts, style, progress, begun)
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
        answered = _ask_b(asked, b, prompts, recording.style, progress)
        return _shadow(asked, prompts, recording, answered)
    if asked.a is None:
        raise BadInput("State the server to compare with: --a URL, or --a-recorded FILE.")
    a = _side(asked.a, asked)
    both = a.told.engine == b.told.engine == KNOWS_IDS
    style = replace(_style(asked), as_ids=both)
    recording, answers, whole = _ask(asked, a, b, prompts, style, progress)
    return _shadow(asked, prompts, recording, Answered(b.told, answers, not whole))


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


def _repeated(count: int, share: float) -> tuple[int, ...]:
    """Which prompts A answers twice: that share of them, evenly spread."""
    wanted = min(count, round(count * share))
    return tuple(place * count // wanted for place in range(wanted))


def _ask(
    asked: ShadowAsked,
    a: Side,
    b: Side | None,
    prompts: Prompts,
    style: Style,
    progress: Progress,
    begun: Recording | None = None,
) -> tuple[Recording, tuple[Answer | None, ...], bool]:
    """All to both at the same time; A's repetitions come after its first answers, at the same load."""
    listed = prompts.listed
    repeated = _repeated(len(listed), asked.repeat)
    to_a = [*listed, *(listed[place] for place in repeated)]
    had: list[Answer | None] = [None] * len(to_a) if begun is None else [*begun.answers, *begun.again]  # fmt: skip
    left = [place for place, each in enumerate(had) if each is None]
    of_all = len(to_a) + (len(listed) if b else 0)
    ended = _counter(len(to_a) - len(left), of_all, progress)
    askings = [Asking(a, [to_a[place] for place in left], style, asked.at_once, ended)]
    if b is not None:
        askings.append(Asking(b, listed, style, asked.at_once, ended))
    whole = ask_all(askings, _load_statistics if b else _nothing)
    for place, answer in zip(left, askings[0].answers(), strict=True):
        had[place] = answer
    recording = Recording(
        a.told,
        style,
        prompts.source,
        prompts.sha256,
        tuple(had[: len(listed)]),
        repeated,
        tuple(had[len(listed) :]),
    )
    return recording, tuple(askings[1].answers()) if b else (), whole


def _ask_b(
    asked: ShadowAsked, b: Side, prompts: Prompts, style: Style, progress: Progress
) -> Answered:
    ended = _counter(0, len(prompts.listed), progress)
    asking = Asking(b, prompts.listed, style, asked.at_once, ended)
    whole = ask_all([asking], _load_statistics)
    return Answered(b.told, tuple(asking.answers()), not whole)


def _load_statistics() -> None:
    """What the figures need takes about a second to load: time that the servers need anyway."""
    import scipy.stats  # noqa: F401


def _nothing() -> None:
    """Recording needs none."""


def _counter(done: int, of_all: int, progress: Progress) -> Callable[[], None]:
    """Called by the threads of both sides."""
    numbers, one_at_a_time = count(done + 1), Lock()

    def ended() -> None:
        with one_at_a_time:
            progress(next(numbers), of_all)

    return ended


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
