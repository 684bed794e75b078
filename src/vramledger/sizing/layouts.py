"""The layouts to try on a card: tensor by pipeline splits, with expert parallelism where it helps."""

from collections.abc import Iterator
from typing import Final

from vramledger.engine.setting import Layout
from vramledger.engine.vllm.layouts import refusals
from vramledger.engine.vllm.rules import Rules
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.server import servers
from vramledger.model.model import Model
from vramledger.sizing.question import Question

_WHOLE_SERVER: Final = 8  # stages go over several servers only where these are of full size


def layouts(
    question: Question, model: Model, accelerator: Accelerator, rules: Rules, *, across: bool
) -> Iterator[Layout]:
    """Splits over the GPUs of one server or, `across`, pipelines over several servers of eight.

    Powers of two are tried whether legal or not, so that the rule against one can be told; other
    numbers of ranks only where no rule forbids them. Expert parallelism stands beside a tensor split
    of the experts, or replaces one that is not legal.
    """
    most = max(server.gpus for server in servers(accelerator))
    for tp in range(1, question.largest_tp + 1):
        if _power(tp) or (tp <= most and _legal(model, Layout(tp=tp), rules)):
            for pp in _stages(question, model, tp, most, across=across):
                for layout in _with_experts(model, Layout(tp=tp, pp=pp), rules, question):
                    if question.pinned.admits(layout):
                        yield layout


def _stages(question: Question, model: Model, tp: int, most: int, *, across: bool) -> Iterator[int]:
    for pp in range(1, min(question.largest_pp, model.text.layers) + 1):
        inside = tp * pp <= max(most, tp)
        wanted = most >= _WHOLE_SERVER and tp == most and not inside if across else inside
        if wanted and (_power(pp) or pp == question.pinned.pp):
            yield pp


def _with_experts(
    model: Model, layout: Layout, rules: Rules, question: Question
) -> tuple[Layout, ...]:
    """The layout, with expert parallelism where that is asked for or alone makes it legal.

    Both where both are legal and no stages are made: experts whole on their rank or split.
    """
    if model.text.experts is None or layout.tp == 1:
        return (layout,)
    parallel = Layout(tp=layout.tp, pp=layout.pp, expert_parallel=True)
    if question.pinned.expert_parallel:
        return (parallel,)
    if not _legal(model, parallel, rules):
        return (layout,)
    if not _legal(model, layout, rules):
        return (parallel,)
    return (layout, parallel) if layout.pp == 1 else (layout,)


def _legal(model: Model, layout: Layout, rules: Rules) -> bool:
    return not refusals(model, layout, rules)


def _power(value: int) -> bool:
    return value & (value - 1) == 0
