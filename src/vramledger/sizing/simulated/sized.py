"""A sizing with its best candidates simulated; what fails there is not recommended any more."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.load import Part, prepared
from vramledger.sizing.candidate import Candidate, CardResult, Sizing
from vramledger.sizing.evaluate import Evaluator
from vramledger.sizing.question import Question
from vramledger.sizing.simulated.choose import Place, by_rank, fitting
from vramledger.sizing.simulated.load import NotPlayable, Playable, playable
from vramledger.sizing.simulated.play import Act, Progress, Stage, play
from vramledger.sizing.simulated.ranking import passes, ranked
from vramledger.sizing.simulated.replicas import fewest
from vramledger.sizing.simulated.words import queue_words, speed_words, why_not

TOP: Final = 3
_MOST: Final = 100
_TRIES: Final = 4  # candidates tried for each that can be simulated, at most
_CHECKED: Final = ("speed", "queue")


@frozen
class Asked:
    """How many candidates are played, and from which seed."""

    top: int = TOP
    seed: int = 0


def simulated(sizing: Sizing, question: Question, asked: Asked, progress: Progress) -> Sizing:
    """The sizing with its `asked.top` best candidates played, and more where a card's all fail.

    On such a card the others are played until one passes, and the first one with more replicas; the
    fewest that pass become a candidate of their own.

    Raises:
        BadInput: `top` is out of range, or recorded requests cannot be read.
    """
    if not 1 <= asked.top <= _MOST:
        raise BadInput(f"--simulate-top is {asked.top}; it must be from 1 to {_MOST}.")
    with _acts(question, asked.seed) as found:
        acts, notes = found
        stage = Stage(Evaluator(question), acts, asked.seed, progress)
        cards = _played(stage, sizing.cards, asked.top) if acts else sizing.cards
    checked = (
        (*sizing.checked, *_CHECKED)
        if any(c.played for card in cards for c in card.candidates)
        else sizing.checked
    )
    said = tuple(f"{act.scenario.name}, simulated: {act.load.said}." for act in acts)
    return replace(
        sizing,
        cards=tuple(cards),
        checked=checked,
        notes=(*sizing.notes, *said, *notes),
        simulated=True,
    )


@contextmanager
def _acts(question: Question, seed: int) -> Iterator[tuple[list[Act], list[str]]]:
    """What is played for every scenario while the block lasts, and why others are not played."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vram-size-")))
        acts: list[Act] = []
        notes: list[str] = []
        for number, scenario in enumerate(question.scenarios):
            load = playable(scenario, Path(question.folder), scratch / str(number), seed)
            if isinstance(load, NotPlayable):
                notes.append(load.reason)
                continue
            path = stack.enter_context(prepared(load.part, seed))
            acts.append(Act(scenario, Playable(Part(path), load.in_flight, load.said)))
        yield acts, [*notes, *_apart(acts)]


def _apart(acts: Sequence[Act]) -> list[str]:
    if len(acts) < 2:
        return []
    return ["Scenarios are simulated one by one, each with the servers to itself."]


def _played(stage: Stage, cards: Sequence[CardResult], top: int) -> list[CardResult]:
    """The cards with candidates played, in their new order."""
    table = [list(card.candidates) for card in cards]
    _play_each(stage, table, by_rank(cards), top)
    looked_at = [number for number, card in enumerate(table) if any(c.played for c in card)]
    for number in looked_at:
        if not any(map(passes, table[number])):
            _go_on(stage, table, fitting(cards, number))
    return [ranked(card, candidates) for card, candidates in zip(cards, table, strict=True)]


def _play_each(
    stage: Stage, table: list[list[Candidate]], places: Iterable[Place], top: int
) -> None:
    """Play candidates in turn until `top` of them could be; the others say why they could not."""
    played = 0
    for number, place in islice(places, top * _TRIES):
        if played == top:
            return
        if table[number][place].simulated is None:
            table[number][place] = _with(stage, table[number][place])
            played += table[number][place].played


def _go_on(stage: Stage, table: list[list[Candidate]], places: list[Place]) -> None:
    """Further candidates of a card whose best ones fail; then its best one with more replicas."""
    number = places[0][0]
    first = next(c for c in table[number] if c.played)
    for _, place in places:
        if any(map(passes, table[number])):
            break
        _play_each(stage, table, [(number, place)], 1)
    tried: dict[int, Candidate] = {}

    def enough(candidate: Candidate) -> bool:
        tried[candidate.replicas] = _with(stage, candidate)
        return passes(tried[candidate.replicas])

    more = fewest(first, enough)
    if more is not None:
        table[number].append(tried[more.replicas])


def _with(stage: Stage, candidate: Candidate) -> Candidate:
    """The candidate with what its simulations say."""
    found = play(stage, candidate)
    notes = (*candidate.notes, *(f"Not simulated: {reason}" for reason in found.not_played))
    if not found.runs:
        return replace(candidate, simulated=found, notes=notes)
    return replace(
        candidate,
        simulated=found,
        reason=why_not(found) if found.fails else candidate.reason,
        speed=speed_words(found),
        queue=queue_words(found),
        notes=notes,
    )
