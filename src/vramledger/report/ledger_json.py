"""The ledger as one JSON object, schema ``vramledger.ledger/1``.

Row figures are in GiB. ``weights_gib`` to ``margin_gib`` of a rank add up to its ``budget_gib``;
graph memory that the engine leaves outside the budget is in ``outside_budget_gib``.
"""

from typing import Any, Final

from vramledger.engine.kv import KvGroup, KvPool
from vramledger.engine.vllm.deployment import Deployment
from vramledger.evidence import Basis, Figure, Unknown, total
from vramledger.ledger.ledger import Ledger, RankLedger

SCHEMA: Final = "vramledger.ledger/1"
_BUDGET_KEYS: Final = (
    "weights",
    "activation",
    "non_torch",
    "cuda_graph",
    "state",
    "draft",
    "lora",
    "encoder",
    "kv_cache",
    "margin",
)
_EMPTY: Final = {
    "cuda_graph": "nothing is deducted from the budget for graphs",
    "state": "recurrent state lives in blocks of the KV pool, or outside the budget in V0",
    "draft": "no draft model",
    "lora": "no LoRA slots",
    "encoder": "no encoder is profiled",
}

Json = dict[str, Any]


def ledger_json(ledger: Ledger) -> Json:
    """The whole ledger, ready for ``json.dumps``."""
    return {
        "schema": SCHEMA,
        "fits": ledger.fits,
        "reason": ledger.reason,
        "deployment": _deployment(ledger.deployment),
        "ranks": [_rank(rank) for rank in ledger.ranks],
        "kv": _kv(ledger),
        "host": [
            {"key": row.key, "label": row.label, "gib": row.figure.to_json(), "note": row.note}
            for row in ledger.host
        ],
        "findings": [finding.to_json() for finding in ledger.findings],
        "levers": [lever.to_json() for lever in ledger.levers],
    }


def _deployment(deployment: Deployment) -> Json:
    layout = deployment.layout
    return {
        "model": deployment.model.id,
        "engine": "vllm",
        "version": deployment.version,
        "version_note": deployment.version_note,
        "notes": list(deployment.remarks),
        "rules": deployment.rules.family,
        "gpu": deployment.accelerator.name,
        "tp": layout.tp,
        "pp": layout.pp,
        "dp": layout.dp,
        "dtype": str(deployment.dtype.value),
        "gpu_memory_utilization": deployment.gpu_memory_utilization.value,
        "max_model_len": deployment.max_model_len.value,
        "max_num_seqs": deployment.max_num_seqs.value,
        "max_num_batched_tokens": deployment.max_num_batched_tokens.value,
        "kv_cache_dtype": deployment.kv_cache_dtype.value,
    }


def _rank(rank: RankLedger) -> Json:
    sums = {f"{key}_gib": _inside(rank, key).to_json() for key in _BUDGET_KEYS}
    return {
        "rank": rank.rank,
        "pp_stage": rank.pp_stage,
        "tp_rank": rank.tp_rank,
        "total_gib": rank.total.to_json(),
        "budget_gib": rank.budget.to_json(),
        "outside_budget_gib": rank.outside.to_json(),
        **sums,
        "rows": [
            {
                "key": row.key,
                "label": row.label,
                "group": str(row.account),
                "in_budget": row.in_budget,
                "gib": row.figure.to_json(),
                "note": row.note,
            }
            for row in rank.rows
        ],
    }


def _inside(rank: RankLedger, key: str) -> Figure:
    """The rows of that key inside the budget; a derived zero with the reason where none is."""
    figures = [row.figure for row in rank.rows if row.key == key and row.in_budget]
    if len(figures) == 1:
        return figures[0]
    if figures:
        return total(figures, key)
    return Figure.sharp(0.0, Basis.DERIVED, _EMPTY.get(key, "nothing"))


def _kv(ledger: Ledger) -> Json:
    pool = ledger.pool
    found: Json = {
        "tokens": ledger.tokens.to_json(),
        "capacity_tokens": ledger.capacity_tokens.to_json(),
    }
    if pool is None:
        reason = ledger.tokens.reason if isinstance(ledger.tokens, Unknown) else ""
        empty = dict.fromkeys(("num_blocks", "block_size", "bytes_per_block", "max_concurrency"))
        return {**empty, "reason": reason, **found}
    return {
        "num_blocks": pool.num_blocks,
        "block_size": pool.layout.block_size,
        "bytes_per_block": max(pool.layout.bytes_per_block),
        "max_concurrency": pool.max_concurrency,
        "max_concurrency_low": _concurrency(ledger.pool_low),
        "max_concurrency_high": _concurrency(ledger.pool_high),
        "max_model_len": pool.max_model_len,
        "cache_dtype": pool.layout.cache_dtype,
        "replication": pool.layout.replication,
        "groups": [_group(group) for group in pool.layout.groups],
        "notes": list(pool.layout.notes),
        **found,
    }


def _concurrency(pool: KvPool | None) -> float | None:
    return None if pool is None else pool.max_concurrency


def _group(group: KvGroup) -> Json:
    return {
        "kind": group.kind,
        "layers": group.layers,
        "padding_layers": group.padding,
        "block_size": group.block_size,
        "page_bytes": group.page_bytes,
    }
