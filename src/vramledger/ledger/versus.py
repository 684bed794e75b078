"""Two ledgers side by side: what differs in the settings, what changes in the account, and why."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from vramledger.engine.setting import Setting
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import VramError
from vramledger.evidence import Unknown
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.token_cost import TokenCost, cost_sentence, token_cost
from vramledger.units import GIB, format_change

_LEAST_GIB: Final = 0.005
_MOST_SIZES: Final = 5
_NOTHING: Final = "no row moves, and a token costs the same: the version counts tokens otherwise"


@frozen
class SettingChange:
    """One setting that differs after defaults, and what it alone does to the KV tokens."""

    name: str
    before: str
    after: str
    alone_tokens: int | None = (
        None  # effect of only this change on B's way from A; None: not separable
    )


@frozen
class RowChange:
    """One row of the first rank that moved, in GiB."""

    key: str
    label: str
    before_gib: float
    after_gib: float

    @property
    def delta_gib(self) -> float:
        return self.after_gib - self.before_gib


@frozen
class Versus:
    """What changes from A to B."""

    before: Ledger
    after: Ledger
    settings: tuple[SettingChange, ...]
    rows: tuple[RowChange, ...]
    tokens_before: int | None
    tokens_after: int | None
    sentence: str


def versus(before: Case, after: Case) -> Versus:
    """Compare two cases. Every flag that differs is also tried alone, to say what it does by itself.

    Raises:
        BadInput: one of the two is not possible for its model.
    """
    a, b = before.ledger(), after.ledger()
    settings = [
        SettingChange(name, old, new) for name, old, new in _differences(a.deployment, b.deployment)
    ]
    settings += _cost_changes(a, b)
    settings += _alone(before, after, a)
    rows = _row_changes(a, b)
    tokens_a, tokens_b = _tokens(a), _tokens(b)
    return Versus(a, b, tuple(settings), rows, tokens_a, tokens_b, _sentence(a, b, rows))


def _differences(a: Deployment, b: Deployment) -> list[tuple[str, str, str]]:
    found = [
        (name, old, new)
        for name, old, new in (
            ("model", a.model.id, b.model.id),
            ("gpu", a.accelerator.name, b.accelerator.name),
            ("version", a.version, b.version),
            ("layout", _layout(a), _layout(b)),
        )
        if old != new
    ]
    for field in fields(Deployment):
        old, new = getattr(a, field.name), getattr(b, field.name)
        if isinstance(old, Setting) and isinstance(new, Setting) and old.value != new.value:
            found.append((field.name, _said(old.value), _said(new.value)))
    return found


def _said(value: object) -> str:
    """A setting's value; of many sizes how many there are and the last."""
    if isinstance(value, tuple) and len(value) > _MOST_SIZES:
        return f"{len(value)} sizes to {value[-1]}"
    return str(value)


def _cost_changes(a: Ledger, b: Ledger) -> list[SettingChange]:
    """What decides the bytes of a token, after every default: cache type, blocks and groups."""
    old, new = token_cost(a.pool), token_cost(b.pool)
    if old is None or new is None:
        return []
    return [SettingChange(*change) for change in old.changes(new)]


def _layout(deployment: Deployment) -> str:
    layout = deployment.layout
    return f"TP {layout.tp}, PP {layout.pp}, DP {layout.dp}"


def _alone(before: Case, after: Case, a: Ledger) -> list[SettingChange]:
    """Each flag of B that A lacks or sets otherwise, applied to A by itself."""
    start = _tokens(a)
    changes = []
    for flag in after.launch.flags:
        own = before.launch.flag(flag.name)
        if own is not None and own.value == flag.value:
            continue
        try:
            tokens = _tokens(before.with_flag(flag.name, flag.value).ledger())
        except VramError:
            tokens = None  # not possible on its own: the change needs another one beside it
        effect = None if tokens is None or start is None else tokens - start
        old = "not set" if own is None else (own.value or "on")
        changes.append(SettingChange(f"--{flag.name} alone", old, flag.value or "on", effect))
    return changes


def _row_changes(a: Ledger, b: Ledger) -> tuple[RowChange, ...]:
    old = {row.key: row for row in a.ranks[0].rows}
    new = {row.key: row for row in b.ranks[0].rows}
    changes = []
    for key in [*old, *(key for key in new if key not in old)]:
        before = old[key].figure.value if key in old else 0.0
        after = new[key].figure.value if key in new else 0.0
        label = (old.get(key) or new[key]).label
        if abs(after - before) >= _LEAST_GIB:
            changes.append(RowChange(key, label, before, after))
    return tuple(sorted(changes, key=lambda change: -abs(change.delta_gib)))


def _tokens(ledger: Ledger) -> int | None:
    return None if isinstance(ledger.tokens, Unknown) else int(ledger.tokens.value)


def _sentence(a: Ledger, b: Ledger, rows: tuple[RowChange, ...]) -> str:
    before, after = _tokens(a), _tokens(b)
    if before is None or after is None:
        return "One of the two keeps no KV cache, so their tokens cannot be compared."
    causes = [row for row in rows if row.key not in ("kv_cache", "margin")]
    cause = "; ".join(_causes(token_cost(a.pool), token_cost(b.pool), causes, before))
    if before == after:
        return f"The KV cache stays at {before:,} tokens{f'; {cause}' if cause else ''}."
    word = "grows" if after > before else "shrinks"
    share = f" ({format_change((after - before) / before)})" if before else ""
    return f"The KV cache {word} from {before:,} to {after:,} tokens{share}; {cause or _NOTHING}."


def _causes(
    old: TokenCost | None, new: TokenCost | None, rows: list[RowChange], tokens: int
) -> Iterator[str]:
    """The bytes of a token, where they say more than any row, and the row that moves most."""
    row = (
        f"the row that moves most is {rows[0].label} ({rows[0].delta_gib:+.2f} GiB)" if rows else ""
    )
    if old is not None and new is not None and old.differs(new):
        of_cost = tokens * (old.bytes_per_token / new.bytes_per_token - 1)
        of_row = rows[0].delta_gib * GIB / old.bytes_per_token if rows else 0.0
        if abs(of_cost) > abs(of_row):
            yield f"{cost_sentence(old, new)}, which alone makes {of_cost:+,.0f} tokens"
    if row:
        yield row
