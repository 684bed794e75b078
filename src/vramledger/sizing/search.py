"""All candidates of a question, grouped by card and ranked within a card."""

from collections.abc import Iterator

from vramledger.engine.vllm.versions import rules_for
from vramledger.hardware.accelerator import Accelerator
from vramledger.sizing.candidate import Candidate, CardResult, Sizing
from vramledger.sizing.context_limits import context_limits
from vramledger.sizing.evaluate import Choice, Evaluator
from vramledger.sizing.fewer_sequences import with_fewer_sequences
from vramledger.sizing.layouts import layouts
from vramledger.sizing.peaks import joined_notes
from vramledger.sizing.question import Question
from vramledger.sizing.smaller import next_smaller


def size(question: Question) -> Sizing:
    """The candidates of every card.

    Named cards keep their order, open ones are ordered; prices, when given, rank either.
    """
    evaluator = Evaluator(question)
    cards = [card_result(evaluator, accelerator) for accelerator in question.accelerators]
    if question.open_cards:
        cards.sort(key=_reach)
    if question.prices:
        cards.sort(key=_price)
    match = rules_for(question.engine_version)
    version_note = (match.note,) if match.note else ()
    return Sizing(
        model=question.model_name,
        engine="vllm",
        engine_version=match.version,
        cards=tuple(cards),
        max_model_len=question.max_model_len,
        currency=question.currency,
        unmet=question.unmet,
        notes=(*question.notes, *joined_notes(evaluator.peaks), *version_note),
        weights_unknown=question.model.weights_unknown,
        warnings=question.warnings,
        limits=context_limits(evaluator, cards),
    )


def card_result(evaluator: Evaluator, accelerator: Accelerator) -> CardResult:
    """Every precision and layout on one card: those that fit by GPUs and waste, then the others.

    Layouts over several servers are tried where the best within one takes several or none fits.
    """
    question = evaluator.question
    candidates = [evaluator.evaluate(choice) for choice in choices(question, accelerator)]
    if all(c.servers != 1 for c in candidates):
        further = choices(question, accelerator, across=True)
        candidates += [evaluator.evaluate(choice) for choice in further]
    candidates += with_fewer_sequences(evaluator, tuple(candidates))
    ranked = tuple(sorted(candidates, key=_rank))
    return CardResult(accelerator, ranked, next_smaller(evaluator, ranked))


def fits_on(evaluator: Evaluator, accelerator: Accelerator) -> bool:
    """Whether any candidate of a card fits; stops at the first that does."""
    return any(
        evaluator.evaluate(choice).fits
        for across in (False, True)
        for choice in choices(evaluator.question, accelerator, across=across)
    )


def choices(
    question: Question, accelerator: Accelerator, *, across: bool = False
) -> Iterator[Choice]:
    """Precisions times layouts, within one server or across several."""
    rules = rules_for(question.engine_version).rules
    for precision in question.precisions:
        model = question.served_as(precision.weights).model
        for layout in layouts(question, model, accelerator, rules, across=across):
            yield Choice(accelerator, precision, layout)


def _rank(candidate: Candidate) -> tuple[float, ...]:
    """Fitting first, then fewest GPUs, least splitting, experts split like the rest, least waste, least idle memory.

    Of those that do not fit, the one on most GPUs that a server can join comes first: it came
    closest.
    """
    layout = candidate.layout
    if not candidate.fits:
        return (1, candidate.link is None, -layout.world, -layout.tp)
    return (
        0,
        candidate.gpus,
        layout.world * (2 if layout.pp > 1 else 1),
        layout.expert_parallel,
        candidate.kv_waste_gib + candidate.weights_waste_gib,
        candidate.idle_share or 0.0,
    )


def _reach(card: CardResult) -> tuple[float, ...]:
    """Cards for servers first, then those of which fewest do it, then least memory installed."""
    best, one = card.best, card.accelerator
    if best is None:
        return (1,)
    return (0, not one.for_servers, best.gpus, best.gpus * one.total.value)


def _price(card: CardResult) -> float:
    prices = [c.price_per_hour for c in card.candidates if c.fits and c.price_per_hour is not None]
    return min(prices, default=float("inf"))
