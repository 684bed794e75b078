"""A table over one setting, and which of parameters, length and concurrency moves the total most."""

from itertools import pairwise
from typing import Final

from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.ledger.axis import Axis, Point, at
from vramledger.ledger.case import Case
from vramledger.ledger.ledger import Ledger
from vramledger.units import GIB, parse_count

_STEP: Final = 1024
_COUNTED: Final = frozenset({"max-num-batched-tokens", "max-num-seqs"})
_NOT_OURS: Final = frozenset({"weights", "kv_cache", "margin"})


@frozen
class Entry:
    """One row of the table, in GiB on the first rank; None where the setting is not possible."""

    value: str
    fits: bool
    reason: str
    weights_gib: float | None = None
    other_gib: float | None = None  # everything in the budget but weights and the KV pool
    pool_gib: float | None = None
    load_gib: float | None = None  # what the load takes of the pool, or would take
    tokens: int | None = None  # as the engine prints
    held: int | None = None  # requests of the asked length that the pool holds

    @property
    def needed_gib(self) -> float | None:
        """Weights, other rows and the load together."""
        if self.weights_gib is None or self.other_gib is None or self.load_gib is None:
            return None
        return self.weights_gib + self.other_gib + self.load_gib


@frozen
class Mover:
    """What doubling one quantity adds to the need of a rank."""

    name: str
    added_gib: float


@frozen
class Slope:
    """KV tokens lost for each 1,024 more of a setting, between the two values."""

    start: int
    end: int
    lost_tokens: int
    lost_gib: float


def slopes(axis: Axis, entries: tuple[Entry, ...]) -> tuple[Slope, ...]:
    """What each stretch of `axis` costs in cache, for settings that count tokens or requests."""
    if axis.name not in _COUNTED:
        return ()
    known = [
        (parse_count(entry.value, axis.name), entry.tokens, entry.pool_gib)
        for entry in entries
        if entry.tokens is not None and entry.pool_gib is not None
    ]
    found = []
    for (a, tokens_a, gib_a), (b, tokens_b, gib_b) in pairwise(known):
        if b > a:
            share = _STEP / (b - a)
            found.append(Slope(a, b, round((tokens_a - tokens_b) * share), (gib_a - gib_b) * share))
    return tuple(found)


def sweep(case: Case, axis: Axis, requests: int, request_tokens: int | None) -> tuple[Entry, ...]:
    """One entry a value of a resolved axis; one that is not possible keeps its row, with the rule.

    Raises:
        BadInput: a value is not one of the kind.
        UnknownName: no such accelerator or version.
    """
    start = Point(case, requests, request_tokens)
    points = [(value, at(axis, value, start)) for value in axis.values]
    return tuple(_entry(p.case, value, p.requests, p.request_tokens) for value, p in points)


def _entry(case: Case, value: str, requests: int, request_tokens: int | None) -> Entry:
    try:
        ledger = case.ledger()
    except VramError as error:
        return Entry(value, False, str(error))
    rows = {row.key: row.figure.value for row in ledger.ranks[0].rows if row.in_budget}
    pool = ledger.pool_low
    tokens = request_tokens or (pool.max_model_len if pool else 0)
    held = pool.capacity(tokens) if pool else None
    enough = ledger.fits and (held is None or held >= requests)
    reason = ledger.reason if not ledger.fits or enough else f"holds {held} of {requests} requests."
    return Entry(
        value=value,
        fits=enough,
        reason=reason,
        weights_gib=rows.get("weights", 0.0),
        other_gib=sum(v for key, v in rows.items() if key not in _NOT_OURS),
        pool_gib=rows.get("kv_cache", 0.0),
        load_gib=load_gib(ledger, requests, tokens),
        tokens=ledger.pool.tokens if ledger.pool else None,
        held=held,
    )


def load_gib(ledger: Ledger, requests: int, tokens: int) -> float | None:
    """KV of so many requests of so many tokens on the largest stage, in whole blocks."""
    pool = ledger.pool or ledger.pool_low
    if pool is None:
        return None
    return requests * pool.layout.blocks_at(tokens) * max(pool.layout.bytes_per_block) / GIB


def movers(case: Case, requests: int, request_tokens: int | None) -> tuple[Mover, ...]:
    """What doubling parameters, length or concurrency adds to one rank's need, most first."""
    ledger = case.ledger()
    pool = ledger.pool or ledger.pool_low
    if pool is None:
        return ()
    tokens = request_tokens or pool.max_model_len
    now = load_gib(ledger, requests, tokens) or 0.0
    found = (
        Mover("parameters", ledger.ranks[0].row("weights").value),
        Mover("request length", (load_gib(ledger, requests, 2 * tokens) or 0.0) - now),
        Mover("concurrent requests", (load_gib(ledger, 2 * requests, tokens) or 0.0) - now),
    )
    return tuple(sorted(found, key=lambda mover: -mover.added_gib))
