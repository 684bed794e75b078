"""The table of rules, and the questions put to it."""

from collections.abc import Callable
from dataclasses import field
from functools import lru_cache
from typing import Final

from vramledger.engine.setting import Layout
from vramledger.engine.vllm.layouts import attention, parallel, quantized, shapes
from vramledger.engine.vllm.layouts.placement import Placement
from vramledger.engine.vllm.rules import Rules
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.model import Model


@frozen
class Refusal:
    """Why vLLM would not start a layout: a stable rule name and one finished sentence."""

    rule: str
    message: str


Rule = Callable[[Placement], str | None]
RULES: Final[tuple[tuple[str, Rule], ...]] = (
    ("query heads", attention.query_heads),
    ("vocabulary", shapes.vocabulary),  # the embedding is built before any layer
    ("KV heads", attention.kv_heads),
    ("decode context parallelism", attention.decode_context),
    ("matrix shapes", shapes.matrices),
    ("pipeline stages", parallel.stages),
    ("expert parallelism", parallel.experts),
    ("quantisation group", quantized.groups),
    ("FP8 block", quantized.blocks),
    ("bitsandbytes shards", quantized.prequantized_bitsandbytes),
)
CARD_RULES: Final[tuple[tuple[str, Rule], ...]] = (("compute capability", quantized.capability),)
_KEPT: Final = 1024


@frozen
class _Question:
    """A model, told apart by identity, in a layout. Keeping the model keeps its identity."""

    identity: int
    layout: Layout
    rules: Rules
    model: Model = field(compare=False)


def refusals(
    model: Model, layout: Layout, rules: Rules, accelerator: Accelerator | None = None
) -> tuple[Refusal, ...]:
    """Every rule that forbids the layout; empty where vLLM accepts it."""
    shape = _refused_on_any_card(_Question(id(model), layout, rules, model))
    return (*shape, *_refused(CARD_RULES, Placement(model, layout, rules, accelerator)))


@lru_cache(maxsize=_KEPT)
def _refused_on_any_card(question: _Question) -> tuple[Refusal, ...]:
    return _refused(RULES, Placement(question.model, question.layout, question.rules))


def _refused(rules: tuple[tuple[str, Rule], ...], placement: Placement) -> tuple[Refusal, ...]:
    found = ((name, rule(placement)) for name, rule in rules)
    return tuple(Refusal(name, message) for name, message in found if message is not None)


def tensor_parallel_choices(
    model: Model,
    rules: Rules,
    most: int,
    accelerator: Accelerator | None = None,
    *,
    expert_parallel: bool = False,
) -> tuple[int, ...]:
    """Every tensor-parallel size up to `most` that no rule forbids, without other parallelism."""
    return tuple(
        tp
        for tp in range(1, most + 1)
        if not refusals(model, Layout(tp=tp, expert_parallel=expert_parallel), rules, accelerator)
    )
