"""A gate for continuous integration: fail when a flag or an upgrade loses KV tokens, and say why."""

import json
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Unknown
from vramledger.frozen import frozen
from vramledger.ledger.ledger import Ledger
from vramledger.named_file import read_text

_LARGEST: Final = 16 << 20
_SCHEMA: Final = "vramledger.ledger/1"


@frozen
class Baseline:
    """What an earlier ``vram ledger --json`` said."""

    tokens: float
    rows_gib: dict[str, float]  # first rank, by row key
    deployment: dict[str, Any]


@frozen
class Gate:
    """The verdict of the gate. `loss` is the share of KV tokens lost, negative for a gain."""

    holds: bool
    loss: float
    sentence: str


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
        tokens = float(saved["kv"]["tokens"]["value"])
        rows = {row["key"]: float(row["gib"]["value"]) for row in saved["ranks"][0]["rows"]}
        deployment = dict(saved["deployment"])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise BadInput(
            f"{path} lacks a figure the gate needs ({error}); save it anew with vram ledger --json."
        ) from None
    if not tokens > 0:
        raise BadInput(f"{path} holds {tokens:g} KV tokens, which is nothing to compare with.")
    return Baseline(tokens, rows, deployment)


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
        CannotKnow: the ledger has no token figure.
    """
    if isinstance(ledger.tokens, Unknown):
        raise CannotKnow(f"The ledger has no KV tokens to compare: {ledger.tokens.reason}.")
    tokens = ledger.tokens.value
    loss = (baseline.tokens - tokens) / baseline.tokens
    ok = loss <= max_loss
    change = f"{baseline.tokens:,.0f} to {tokens:,.0f} KV tokens ({-loss:+.1%})"
    if ok:
        return Gate(True, loss, f"From {change}: within the allowed loss of {max_loss:.1%}.")
    cause = _cause(ledger, baseline)
    return Gate(
        False, loss, f"From {change}: more than the allowed loss of {max_loss:.1%}. {cause}"
    )


def _cause(ledger: Ledger, baseline: Baseline) -> str:
    """The settings that differ, and the row that grew most."""
    settings = [
        f"{name} {baseline.deployment[name]} -> {value}"
        for name, value in _settings(ledger).items()
        if name in baseline.deployment and baseline.deployment[name] != value
    ]
    grown = [
        (row.figure.value - baseline.rows_gib.get(row.key, 0.0), row.label)
        for row in ledger.ranks[0].rows
        if row.in_budget and row.key not in ("kv_cache", "margin")
    ]
    delta, label = max(grown, default=(0.0, ""))
    parts = []
    if settings:
        parts.append(f"What differs: {', '.join(settings)}.")
    if delta > 0.005:
        parts.append(f"The row that grew most is {label} ({delta:+.2f} GiB).")
    return " ".join(parts) or "No row grew, so a token costs more: cache type, groups or version."


def _settings(ledger: Ledger) -> dict[str, Any]:
    deployment = ledger.deployment
    return {
        "model": deployment.model.id,
        "version": deployment.version,
        "gpu": deployment.accelerator.name,
        "tp": deployment.layout.tp,
        "pp": deployment.layout.pp,
        "gpu_memory_utilization": deployment.gpu_memory_utilization.value,
        "max_model_len": deployment.max_model_len.value,
        "max_num_seqs": deployment.max_num_seqs.value,
        "max_num_batched_tokens": deployment.max_num_batched_tokens.value,
        "kv_cache_dtype": deployment.kv_cache_dtype.value,
    }
