"""Two engines on the same GPUs: who is charged for whom, in which order, and with what fractions."""

from dataclasses import replace
from typing import Final

from vramledger.engine.vllm.rules import ProfileRule
from vramledger.errors import BadInput, VramError
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.ledger.ledger import Ledger, RankLedger
from vramledger.ledger.solve import Load, carries, requests_held, solve
from vramledger.units import format_gib

_TARGET: Final = "gpu-memory-utilization"


@frozen
class Fractions:
    """Utilizations that let both start.

    The second's means a share of the whole GPU, or, where the version charges it for the first
    (`cumulative`), a share of the GPU up to which both fill it.
    """

    first: float
    second: float
    cumulative: bool


@frozen
class Turn:
    """One launch order: the first runs, then the second starts beside it."""

    first: Ledger
    second: Ledger | None  # None where it is refused whatever the memory
    held_gib: float  # what the first holds of each GPU
    starts: bool
    holds: bool  # both start, and each holds the load at the fractions given
    sentence: str
    fractions: Fractions | None  # None where no pair of fractions holds both


def together(one: Case, other: Case, load: Load) -> tuple[Turn, Turn]:
    """Both launch orders of two engines on the same GPUs.

    Raises:
        BadInput: one of the two is not possible for its model, or they take other GPU counts.
    """
    gpus = one.deployment().layout.gpus, other.deployment().layout.gpus
    if gpus[0] != gpus[1]:
        raise BadInput(
            f"The launch takes {gpus[0]} GPUs and the one beside it {gpus[1]}; compare engines "
            "that share the same GPUs, or give --used-gib for the GPUs that both use."
        )
    return _turn(one, other, load), _turn(other, one, load)


def held_gib(ledger: Ledger) -> float:
    """What a running engine holds of its fullest GPU: every row, the cache and what is outside."""
    return max(_held(rank) for rank in ledger.ranks)


def _held(rank: RankLedger) -> float:
    rows = (row for row in rank.rows if row.label != _NEIGHBOURS and row.key != "margin")
    return min(rank.total.value, sum(max(0.0, row.figure.value) for row in rows))


_NEIGHBOURS: Final = "other processes on the GPU"


def _turn(first: Case, second: Case, load: Load) -> Turn:
    alone = first.ledger()
    held = held_gib(alone)
    beside = replace(second, neighbours_gib=first.neighbours_gib + held)
    try:
        after = beside.ledger()
    except VramError as error:
        return Turn(alone, None, held, False, False, str(error), None)
    starts = alone.fits and after.fits
    short = [*_short(first, alone, load), *_short(second, after, load)] if starts else []
    if starts:
        but = f", but {' and '.join(short)}" if short else ""
        sentence = (
            f"{_name(first)} first holds {format_gib(held)} of each GPU; {_name(second)} then "
            f"starts{but}."
        )
    else:
        blame = after.reason if alone.fits else f"the first does not start alone: {alone.reason}"
        sentence = f"{_name(first)} first, then {_name(second)}: {blame}"
    fractions = _fractions(first, second, load)
    return Turn(alone, after, held, starts, starts and not short, sentence, fractions)


def _short(case: Case, ledger: Ledger, load: Load) -> list[str]:
    """What an engine that starts lacks for the load; empty where it holds it."""
    if carries(ledger, load) or ledger.pool_low is None:
        return []
    tokens = load.tokens or ledger.pool_low.max_model_len
    held = requests_held(ledger, load)
    return [f"{_name(case)} holds {held} of the {load.requests} requests of {tokens:,} tokens"]


def _fractions(first: Case, second: Case, load: Load) -> Fractions | None:
    """The smallest share of each that holds the load; the second beside the first at its smallest."""
    try:
        least = solve(first, _TARGET, load)
        if least.ledger is None or least.value is None:
            return None
        held = first.neighbours_gib + held_gib(least.ledger)
        beside = solve(replace(second, neighbours_gib=held), _TARGET, load)
    except VramError:
        return None  # a layout or cache that one of them does not have: its sentence says so
    if beside.ledger is None or beside.value is None:
        return None
    rules = beside.ledger.deployment.rules
    charged = rules.profile is ProfileRule.V1_ALL_NON_TORCH
    return Fractions(float(least.value), float(beside.value), charged)


def _name(case: Case) -> str:
    return case.model.id
