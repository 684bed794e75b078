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
from vramledger.simulate.timing.coefficients import Fit
from vramledger.sizing.candidate import Candidate, CardResult, Sizing
from vramledger.sizing.evaluate import Evaluator
from vramledger.sizing.question import Question
from vramledger.sizing.simulated.card_order import in_order
from vramledger.sizing.simulated.choose import Place, by_rank, fitting
from vramledger.sizing.simulated.load import NotPlayable, Playable, playable
from vramledger.sizing.simulated.play import Act, Announce, Stage, play
from vramledger.sizing.simulated.ranking import passes, ranked
from vramledger.sizing.simulated.replicas import as_expected, fewest, with_slow_end
from vramledger.sizing.simulated.slow_end import with_cost_told
from vramledger.sizing.simulated.words import queue_words, speed_words, why_not
from vramledger.workload.operators.prepared import Part, prepared

TOP: Final = 3
_MOST: Final = 100
_TRIES: Final = 4  # candidates tried for each that can be simulated, at most
_CHECKED: Final = ("speed", "queue")


@frozen
class Asked:
    """How many candidates are played, from which seed, and with step times of which host."""

    top: int = TOP
    seed: int = 0
    fit: Fit | None = None


def simulated(sizing: Sizing, question: Question, asked: Asked, announce: Announce) -> Sizing:
    """The sizing with its `asked.top` best candidates played, and more where a card's all fail.

    On such a card the others are played until one passes, and the first one with more replicas; the
    fewest that pass become a candidate of their own. What else may do on as many GPUs as the best is played too.

    Raises:
        BadInput: `top` is out of range, or recorded requests cannot be read.
    """
    if not 1 <= asked.top <= _MOST:
        raise BadInput(f"--simulate-top is {asked.top}; it must be from 1 to {_MOST}.")
    with _acts(question, asked.seed) as found:
        acts, notes = found
        stage = Stage(Evaluator(question), acts, asked.seed, announce, asked.fit)
        cards = _played(stage, sizing.cards, asked.top) if acts else sizing.cards
    cards = in_order(cards, question)
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
        _compare(stage, table[number])
    return [
        with_cost_told(ranked(card, candidates))
        for card, candidates in zip(cards, table, strict=True)
    ]


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
    for place in places:
        _play_each(stage, table, [place], 1)
        if any(map(passes, table[number])):
            return
    best = next(c for c in table[number] if c.played)
    more = _with_fewest(stage, best)
    if more is not None:
        table[number].append(more)


def _compare(stage: Stage, candidates: list[Candidate]) -> None:
    """What else of the same precision may do on no more GPUs than the best of a card that pass.

    Layouts on as many GPUs are played, and smaller ones that fail are with more replicas.
    """
    best = min(filter(passes, candidates), key=lambda c: c.gpus, default=None)
    if best is None:
        return
    for place, other in enumerate(tuple(candidates)):
        alike = other.fits and other.precision == best.precision
        if alike and other.simulated is None and other.gpus == best.gpus:
            candidates[place] = _with(stage, other)
        elif alike and other.played and not passes(other) and other.layout != best.layout:
            more = _with_fewest(stage, other, best.gpus // other.layout.world)
            if more is not None:
                candidates.append(more)


def _with_fewest(stage: Stage, failing: Candidate, most: int | None = None) -> Candidate | None:
    """The candidate with the fewest replicas that pass, up to `most`; None where none do."""
    tried: dict[int, Candidate] = {}

    def enough(candidate: Candidate) -> bool:
        tried[candidate.replicas] = _with(stage, candidate)
        return passes(tried[candidate.replicas])

    more = fewest(failing, enough, most)
    if more is None:
        return None
    found = tried[more.replicas]
    expected = as_expected((failing, *tried.values()), failing.replicas)
    return found if expected is None else with_slow_end(found, failing.replicas, expected)


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
