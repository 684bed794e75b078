"""A table over one setting, and which of parameters, length and concurrency moves the total most."""

from itertools import pairwise
from typing import Final

from vramledger.engine.vllm.flags import flag_table
from vramledger.engine.vllm.versions import rules_for
from vramledger.errors import BadInput, VramError
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.ledger.ledger import Ledger
from vramledger.units import GIB, parse_count

_MOST_VALUES: Final = 64
_STEP: Final = 1024
_LOAD: Final = frozenset({"concurrency", "request-tokens"})
_OTHER_QUESTIONS: Final = frozenset({"model", "config"})
_COUNTED: Final = frozenset({"max-num-batched-tokens", "max-num-seqs"})
_NOT_OURS: Final = frozenset({"weights", "kv_cache", "margin"})


@frozen
class Axis:
    """A setting and the values to try: a flag of the engine, or one of the load."""

    name: str
    values: tuple[str, ...]


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


def parse_axis(text: str) -> Axis:
    """Read ``max-model-len=4k..128k`` (doubling) or ``kv-cache-dtype=auto,fp8``.

    Raises:
        BadInput: no ``=``, no value, a range that does not grow, or more than 64 values.
    """
    name, separator, values = text.partition("=")
    name = name.strip().lstrip("-").replace("_", "-")
    if not separator or not name or not values.strip():
        raise BadInput(
            f"--table {text!r} is not NAME=VALUES; write --table max-model-len=4k..128k or "
            "--table kv-cache-dtype=auto,fp8."
        )
    low, dots, high = values.partition("..")
    found = _doubling(name, low, high) if dots else tuple(v.strip() for v in values.split(","))
    if len(found) > _MOST_VALUES or not all(found):
        raise BadInput(f"--table {text!r} must give between 1 and {_MOST_VALUES} values.")
    return Axis(name, found)


def _doubling(name: str, low: str, high: str) -> tuple[str, ...]:
    """From low to high by factors of two; suffixes are binary here, since lengths are."""
    first = parse_count(low.upper(), f"the start of --table {name}")
    last = parse_count(high.upper(), f"the end of --table {name}")
    if not 0 < first <= last:
        raise BadInput(f"--table {name}={low}..{high} must run from a smaller to a larger number.")
    values = []
    while first < last:
        values.append(str(first))
        first *= 2
    return (*values, str(last))


def sweep(case: Case, axis: Axis, requests: int, request_tokens: int | None) -> tuple[Entry, ...]:
    """One entry a value; a value that is not possible keeps its row, with the rule."""
    if axis.name not in _LOAD:
        _check_flag(case, axis)
    entries = []
    for value in axis.values:
        count, tokens, changed = requests, request_tokens, case
        if axis.name == "concurrency":
            count = _at_least_one(value, "concurrency")
        elif axis.name == "request-tokens":
            tokens = _at_least_one(value, "request-tokens")
        else:
            changed = case.with_flag(axis.name, value)
        entries.append(_entry(changed, value, count, tokens))
    return tuple(entries)


def _check_flag(case: Case, axis: Axis) -> None:
    """Refuse a setting that the engine does not have, or that names another question."""
    if axis.name in _OTHER_QUESTIONS:
        raise BadInput(f"--table {axis.name} would change the question; compare two with --vs.")
    release = rules_for(case.version or case.launch.version).release
    flag_table(release).find(f"--{axis.name}", "--table")


def _at_least_one(text: str, what: str) -> int:
    count = parse_count(text, f"--table {what}")
    if count < 1:
        raise BadInput(f"--table {what} has the value {text}; it must be at least 1.")
    return count


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
