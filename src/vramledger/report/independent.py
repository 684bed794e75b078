"""The engine-independent part of a ledger, as text and JSON."""

from typing import Any

from vramledger.ledger.independent import Independent
from vramledger.report.ledger_json import SCHEMA


def to_json(found: Independent) -> dict[str, Any]:
    """One object of the ledger's schema; what is not known is null with the reason."""
    cache = found.inspection.cache
    return {
        "schema": SCHEMA,
        "fits": None,
        "reason": found.reason,
        "engine": found.engine,
        "model": found.inspection.model.id,
        "weights_gib": found.weights.to_json(),
        "kv_bytes_per_token": None if cache is None else cache.full_bytes_per_token,
        "kv_bytes_per_token_reason": found.inspection.cache_reason,
        "legal_tensor_parallel": list(found.splits),
        "ranks": [],
        "findings": [],
    }


def to_text(found: Independent) -> str:
    """Lines for a terminal."""
    cache = found.inspection.cache
    lines = [
        f"CANNOT KNOW: {found.reason}",
        f"{found.inspection.model.id}",
        f"  weights as stored      {found.weights.value:.2f} GiB ({found.weights.basis})",
    ]
    if cache is None:
        lines.append(f"  cache                  not known: {found.inspection.cache_reason}")
    else:
        lines += [f"  cache                  {line.sentence}" for line in cache.lines]
    sizes = ", ".join(str(size) for size in found.splits)
    lines.append(f"  tensor-parallel sizes  {sizes}")
    return "\n".join(lines)
