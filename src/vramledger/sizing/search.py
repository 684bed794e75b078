"""All candidates of a question, grouped by card and ranked within a card."""

from collections.abc import Iterable, Iterator
from typing import Final

from vramledger.engine.launch import Flag
from vramledger.engine.setting import Layout
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.server import servers
from vramledger.sizing.candidate import Candidate, CardResult, Precision, Sizing, Smaller
from vramledger.sizing.evaluate import Choice, Evaluator, with_extra
from vramledger.sizing.question import Question

_REMEDIES: Final = (
    ("FP8 KV cache", (Flag("kv-cache-dtype", "fp8", "--kv-cache-dtype"),)),
    ("FP8 weights", (Flag("quantization", "fp8", "--quantization"),)),
    (
        "a batch of 2048 tokens",
        (Flag("max-num-batched-tokens", "2048", "--max-num-batched-tokens"),),
    ),
    ("128 sequences at most", (Flag("max-num-seqs", "128", "--max-num-seqs"),)),
    ("no CUDA graphs", (Flag("enforce-eager", None, "--enforce-eager"),)),
    ("utilization 0.95", (Flag("gpu-memory-utilization", "0.95", "--gpu-memory-utilization"),)),
)


def size(question: Question) -> Sizing:
    """The candidates of every card. Cards keep the order given; prices, when given, rank them."""
    evaluator = Evaluator(question)
    cards = [card_result(evaluator, accelerator) for accelerator in question.accelerators]
    if question.prices:
        cards.sort(key=_price)
    return Sizing(
        model=question.model_name,
        engine="vllm",
        cards=tuple(cards),
        max_model_len=question.max_model_len,
        notes=question.notes,
    )


def card_result(evaluator: Evaluator, accelerator: Accelerator) -> CardResult:
    """Every precision and layout on one card: those that fit by GPUs and waste, then the others."""
    candidates = [evaluator.evaluate(choice) for choice in choices(evaluator.question, accelerator)]
    ranked = tuple(sorted(candidates, key=_rank))
    return CardResult(accelerator, ranked, _smaller(evaluator, ranked))


def choices(question: Question, accelerator: Accelerator) -> Iterator[Choice]:
    """Precisions times layouts that one server of this card can hold."""
    for precision in question.precisions:
        for layout in layouts(question, accelerator):
            yield Choice(accelerator, precision, layout)


def layouts(question: Question, accelerator: Accelerator) -> Iterator[Layout]:
    """Tensor by pipeline splits over the GPUs of one server."""
    most = max(server.gpus for server in servers(accelerator))
    for tp in _powers(min(question.largest_tp, most)):
        for pp in _powers(min(question.largest_pp, most // tp, question.model.text.layers)):
            yield Layout(tp=tp, pp=pp)


def _powers(most: int) -> Iterable[int]:
    value = 1
    while value <= most:
        yield value
        value *= 2


def _rank(candidate: Candidate) -> tuple[bool, float, int, float, float]:
    """Fitting first, then fewest GPUs, least splitting, least waste, least idle memory."""
    return (
        not candidate.fits,
        candidate.gpus,
        candidate.layout.world * (2 if candidate.layout.pp > 1 else 1),
        candidate.replication_waste_gib,
        candidate.idle_share or 0.0,
    )


def _price(card: CardResult) -> float:
    prices = [c.price_per_hour for c in card.candidates if c.fits and c.price_per_hour is not None]
    return min(prices, default=float("inf"))


def _smaller(evaluator: Evaluator, ranked: tuple[Candidate, ...]) -> Smaller | None:
    """The largest choice below the best that fails, with single changes that would mend it."""
    best = next((c for c in ranked if c.fits), None)
    below = [
        c
        for c in ranked
        if not c.fits
        and c.precision == Precision()
        and (best is None or c.layout.world < best.layout.world)
    ]
    if not below:
        return None
    failed = max(below, key=lambda c: (c.layout.world, c.layout.tp))
    choice = Choice(failed.accelerator, failed.precision, failed.layout)
    remedies = tuple(
        name for name, flags in _REMEDIES if evaluator.evaluate(with_extra(choice, *flags)).fits
    )
    return Smaller(failed, remedies)
