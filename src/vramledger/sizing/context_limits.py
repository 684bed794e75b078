"""What a limit on input + output costs the engine at hand, and the limit that is proposed.

Costs come from the ledger: the launch of the best candidate is assessed again at each limit, with
the requests that the limit lets through (an answer that it cuts holds what is left).

The rule of the proposal: the smallest limit of the table that starts and turns away (refuses or
cuts) no more than the contract's success leaves for failures; where it states none, nobody.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import isclose

from vramledger.plan.lengths import LengthDistribution, from_cells
from vramledger.sizing.candidate import Candidate, CardResult
from vramledger.sizing.evaluate import Choice, Evaluator
from vramledger.sizing.limit_rows import ContextLimits, LimitRow
from vramledger.sizing.offered import Offered
from vramledger.sizing.question import Question
from vramledger.sizing.turned_away import Turned, turned_away
from vramledger.units import GIB


def context_limits(evaluator: Evaluator, cards: Iterable[CardResult]) -> ContextLimits | None:
    """The table for the first card's best candidate; None where it is not due or nothing fits."""
    question, best = evaluator.question, _first(cards)
    offered = question.offered
    if best is None or offered is None or not (question.limits or offered.recorded):
        return None
    turned = turned_away(offered, question.model.text.max_positions, question.max_model_len)
    rows = _with_costs([_row(evaluator, best, each) for each in turned])
    fine = (row for row in rows if row.serves and _allows(offered, row.turned))
    return ContextLimits(
        gpu=best.accelerator.name,
        layout=best.layout,
        weights=best.precision.weights,
        kv=best.precision.kv,
        rows=rows,
        allowed=offered.may_turn_away,
        longest=offered.longest,
        in_use=question.max_model_len,
        full=question.limits,
        proposed=next(fine, None),
    )


def cut_at(lengths: LengthDistribution, limit: int) -> LengthDistribution | None:
    """The requests that a limit lets through, answers cut where it ends; None where there are none."""
    cells = [
        (cell.input_tokens, min(cell.output_tokens, limit - cell.input_tokens), cell.weight)
        for cell in lengths.cells
        if cell.input_tokens < limit
    ]
    return from_cells(cells, lengths.basis, lengths.source) if cells else None


def _first(cards: Iterable[CardResult]) -> Candidate | None:
    return next((card.best for card in cards if card.best is not None), None)


def _allows(offered: Offered, turned: Turned) -> bool:
    allowed = offered.may_turn_away
    return turned.away <= allowed or isclose(turned.away, allowed)


def _row(evaluator: Evaluator, best: Candidate, turned: Turned) -> LimitRow:
    limited = _limited(evaluator.question, turned.limit)
    if limited is None:
        return LimitRow(turned, serves=False, reason="It lets no request of some scenario through.")
    choice = Choice(best.accelerator, best.precision, best.layout, best.extra)
    found = evaluator.of(limited).evaluate(choice)
    tightest = found.tightest
    if not found.fits or tightest is None or found.pool is None:
        return LimitRow(turned, serves=False, reason=found.reason)
    pool = found.pool
    return LimitRow(
        turned,
        serves=True,
        reason="",
        held=tightest.held[evaluator.question.share],
        replicas=found.replicas,
        pool_gib=pool.num_blocks * max(pool.layout.bytes_per_block) / GIB,
        one_share=pool.layout.blocks_reserved(turned.limit) / max(1, pool.usable_blocks),
    )


def _limited(question: Question, limit: int) -> Question | None:
    """The question of the same load under another limit; None where nothing of a scenario is left."""
    needs = []
    for need in question.needs:
        lengths = cut_at(need.lengths, limit)
        if lengths is None:
            return None
        needs.append(replace(need, lengths=lengths))
    return replace(question, needs=tuple(needs), max_model_len=limit)


def _with_costs(rows: list[LimitRow]) -> tuple[LimitRow, ...]:
    most = next((row.pool_gib for row in rows if row.pool_gib is not None), None)
    return tuple(
        row if most is None or row.pool_gib is None else replace(row, cost_gib=most - row.pool_gib)
        for row in rows
    )
