"""A gate for continuous integration: fail when a flag or an upgrade loses KV tokens, and say why."""

import json
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Unknown
from vramledger.frozen import frozen
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.token_cost import (
    TokenCost,
    cost_sentence,
    facts_of,
    group_text,
    token_cost,
)
from vramledger.named_file import read_text
from vramledger.units import format_change

_LEAST_GIB: Final = 0.005
_LARGEST: Final = 16 << 20
_SCHEMA: Final = "vramledger.ledger/1"


@frozen
class Baseline:
    """What an earlier ``vram ledger --json`` said."""

    tokens: float
    rows_gib: dict[str, float]  # first rank, by row key
    deployment: dict[str, Any]
    cost: TokenCost | None  # None where the file says nothing of blocks
    where: str = "the baseline"


@frozen
class Gate:
    """The verdict of the gate. `loss` is the share of KV tokens lost, negative for a gain."""

    holds: bool
    loss: float
    sentence: str
    differs: tuple[str, ...]  # settings that are not those of the baseline, "name old -> new"


def read_baseline(path: Path) -> Baseline:
    """Read a ledger saved as JSON.

    Raises:
        BadInput: unreadable, not such a file, or without a token figure.
    """
    try:
        saved = json.loads(read_text(path, _LARGEST, "a ledger saved by vram ledger --json"))
    except (ValueError, RecursionError):
        raise BadInput(f"{path} is not JSON; save one with vram ledger ... --json.") from None
    if not isinstance(saved, dict) or saved.get("schema") != _SCHEMA:
        raise BadInput(
            f"{path} is no ledger of schema {_SCHEMA}; save one with vram ledger --json."
        )
    return _baseline(saved, path)


def _baseline(saved: dict[str, Any], path: Path) -> Baseline:
    try:
        tokens = _finite(saved["kv"]["tokens"]["value"])
        rows = {row["key"]: _finite(row["gib"]["value"]) for row in saved["ranks"][0]["rows"]}
        deployment = dict(saved["deployment"])
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise BadInput(
            f"{path} lacks a figure the gate needs ({error}); save it anew with vram ledger --json."
        ) from None
    if not tokens > 0:
        raise BadInput(f"{path} holds {tokens:g} KV tokens, which is nothing to compare with.")
    return Baseline(tokens, rows, deployment, _cost(saved["kv"], tokens), str(path))


def _cost(kv: dict[str, Any], tokens: float) -> TokenCost | None:
    """What a token cost then, as far as the file says."""
    try:
        block = int(kv["bytes_per_block"])
        groups = [
            group_text(int(g["layers"]), str(g["kind"]), int(g["block_size"])) for g in kv["groups"]
        ]
        facts = facts_of(str(kv["cache_dtype"]), int(kv["block_size"]), block, groups)
        each = block * _finite(kv["num_blocks"]) / tokens
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return TokenCost(each, facts) if each > 0 else None


def _finite(value: Any) -> float:
    """The value as a number; NaN and infinity, which JSON files may spell, are none."""
    number = float(value)
    if not isfinite(number):
        message = f"{value!r} is no figure"
        raise ValueError(message)
    return number


def parse_loss(text: str) -> float:
    """Read ``5%`` or ``0.05`` as a share.

    Raises:
        BadInput: not a share from 0 to 1.
    """
    number = text.strip()
    percent = number.endswith("%")
    try:
        value = float(number.rstrip("%")) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise BadInput(f"--max-loss is {text!r}; write a share such as 5% or 0.05.")
    return value


def gate(ledger: Ledger, baseline: Baseline, max_loss: float) -> Gate:
    """Compare expected KV tokens with a baseline; a loss above `max_loss` (0..1) does not hold.

    Raises:
        BadInput: the baseline is of another model.
        CannotKnow: the ledger has no token figure.
    """
    _same_model(ledger, baseline)
    if isinstance(ledger.tokens, Unknown):
        raise CannotKnow(f"The ledger has no KV tokens to compare: {ledger.tokens.reason}.")
    tokens = ledger.tokens.value
    loss = (baseline.tokens - tokens) / baseline.tokens
    holds = loss <= max_loss
    differs = tuple(_differences(ledger, baseline))
    bound = "within" if holds else "more than"
    change = f"{baseline.tokens:,.0f} to {tokens:,.0f} KV tokens ({format_change(-loss)})"
    sentences = [
        f"From {change}: {bound} the allowed loss of {max_loss:.1%}.",
        f"What differs: {', '.join(differs)}." if differs else "No setting differs.",
    ]
    if not holds:
        sentences += _causes(ledger, baseline)
    return Gate(holds, loss, " ".join(sentences), differs)


def _same_model(ledger: Ledger, baseline: Baseline) -> None:
    then, now = baseline.deployment.get("model"), ledger.deployment.model.id
    if then is not None and then != now:
        raise BadInput(
            f"{baseline.where} is of the model {then} and the launch serves {now}; save a baseline "
            "of this model with vram ledger --json, or compare the two with --vs."
        )


def _differences(ledger: Ledger, baseline: Baseline) -> Iterator[str]:
    """Settings after defaults that are not the baseline's, then what decides a token's bytes."""
    for name, value in _settings(ledger).items():
        old = baseline.deployment.get(name, value)
        if old != value and not (name == "version" and _same_release(old, value)):
            yield f"{name} {old} -> {value}"
    cost = token_cost(ledger.pool)
    if cost is not None and baseline.cost is not None:
        yield from (f"{name} {old} -> {new}" for name, old, new in baseline.cost.changes(cost))


def _same_release(old: object, new: str) -> bool:
    """Whether two spellings, such as v0.33.0 and 0.33.0, name one release."""
    return isinstance(old, str) and old.removeprefix("v") == new.removeprefix("v")


def _causes(ledger: Ledger, baseline: Baseline) -> Iterator[str]:
    """The row that grew most, and a token that costs more."""
    grown = [
        (row.figure.value - baseline.rows_gib.get(row.key, 0.0), row.label)
        for row in ledger.ranks[0].rows
        if row.in_budget and row.key not in ("kv_cache", "margin")
    ]
    delta, label = max(grown, default=(0.0, ""))
    if delta > _LEAST_GIB:
        yield f"The row that grew most is {label} ({delta:+.2f} GiB)."
    cost = token_cost(ledger.pool)
    if cost is not None and baseline.cost is not None and cost.differs(baseline.cost):
        said = cost_sentence(baseline.cost, cost)
        yield f"{said[0].upper()}{said[1:]}."


def _settings(ledger: Ledger) -> dict[str, Any]:
    deployment = ledger.deployment
    return {
        "version": deployment.version,
        "gpu": deployment.accelerator.name,
        "tp": deployment.layout.tp,
        "pp": deployment.layout.pp,
        "dp": deployment.layout.dp,
        "dtype": str(deployment.dtype.value),
        "gpu_memory_utilization": deployment.gpu_memory_utilization.value,
        "max_model_len": deployment.max_model_len.value,
        "max_num_seqs": deployment.max_num_seqs.value,
        "max_num_batched_tokens": deployment.max_num_batched_tokens.value,
        "kv_cache_dtype": deployment.kv_cache_dtype.value,
    }
