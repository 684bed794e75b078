"""Puts the prompts of a comparison to its servers, and counts what has ended."""

from collections.abc import Callable, Sequence
from itertools import count
from threading import Lock

from vramledger.methods.shadow.answer import Answer
from vramledger.methods.shadow.asked import ShadowAsked
from vramledger.methods.shadow.asking import Asking, ask_all
from vramledger.methods.shadow.prompts import Prompt, Prompts
from vramledger.methods.shadow.recording import Recording
from vramledger.methods.shadow.side import Side, Style

Progress = Callable[[int, int], None]  # answers so far, of all


def repeated_of(prompts: int, share: float) -> tuple[int, ...]:
    """Which prompts A answers twice: that share of them, evenly spread."""
    wanted = min(prompts, round(prompts * share))
    return tuple(place * prompts // wanted for place in range(wanted))


def put_to_both(
    asked: ShadowAsked,
    a: Side,
    b: Side | None,
    prompts: Prompts,
    style: Style,
    progress: Progress,
    begun: Recording | None = None,
) -> tuple[Recording, tuple[Answer | None, ...], bool]:
    """All to both at the same time, or to A alone, without what `begun` holds; A's answers, B's, and whether all came. A's repetitions come after its first answers, at the same load."""
    listed = prompts.listed
    repeated = repeated_of(len(listed), asked.repeat)
    to_a = [*listed, *(listed[place] for place in repeated)]
    had: list[Answer | None] = [None] * len(to_a) if begun is None else [*begun.answers, *begun.again]  # fmt: skip
    left = [place for place, each in enumerate(had) if each is None]
    of_all = len(to_a) + (len(listed) if b else 0)
    ended = counter(len(to_a) - len(left), of_all, progress)
    askings = [_asking(asked, a, [to_a[place] for place in left], style, ended)]
    if b is not None:
        askings.append(_asking(asked, b, listed, style, ended))
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


def put_to_b(
    asked: ShadowAsked, b: Side, prompts: Prompts, style: Style, progress: Progress
) -> tuple[tuple[Answer | None, ...], bool]:
    """All to B alone; whether all came."""
    ended = counter(0, len(prompts.listed), progress)
    asking = _asking(asked, b, prompts.listed, style, ended)
    whole = ask_all([asking], _load_statistics)
    return tuple(asking.answers()), whole


def _asking(
    asked: ShadowAsked,
    side: Side,
    prompts: Sequence[Prompt],
    style: Style,
    ended: Callable[[], None],
) -> Asking[Prompt, Answer]:
    return Asking(side, lambda prompt: side.answer(prompt, style), prompts, asked.at_once, ended)


def _load_statistics() -> None:
    """What the figures need takes about a second to load: time that the servers need anyway."""
    import scipy.stats  # noqa: F401


def _nothing() -> None:
    """Recording needs none."""


def counter(done: int, of_all: int, progress: Progress) -> Callable[[], None]:
    """Called by the threads of both sides."""
    numbers, one_at_a_time = count(done + 1), Lock()

    def ended() -> None:
        with one_at_a_time:
            progress(next(numbers), of_all)

    return ended
