"""A sizing as one JSON object, schema ``vramledger.size/1``."""

from vramledger.report.context_limits import limits_json
from vramledger.report.number import rounded
from vramledger.report.sizing_simulated import simulated_json
from vramledger.sizing.candidate import Candidate, CardResult, Holding, Link, Sizing


def sizing_json(sizing: Sizing) -> dict[str, object]:
    """Every candidate of every card, best first within a card."""
    return {
        "schema": "vramledger.size/1",
        "model": sizing.model,
        "engine": sizing.engine,
        "engine_version": sizing.engine_version,
        "holds": sizing.holds,
        "unmet": list(sizing.unmet),
        "fits": sizing.fits,
        "known": sizing.known,
        "weights_unknown": sizing.weights_unknown,
        "checked": list(sizing.checked),
        "max_model_len_tokens": sizing.max_model_len,
        "currency": sizing.currency or None,
        "candidates": [_candidate(c) for card in sizing.cards for c in card.candidates],
        "smaller": [_smaller(card) for card in sizing.cards if card.smaller is not None],
        "warnings": list(sizing.warnings),
        "context_limits": limits_json(sizing.limits),
        "notes": list(sizing.notes),
    }


def _candidate(c: Candidate) -> dict[str, object]:
    return {
        "gpu": c.accelerator.name,
        "gpus": c.gpus,
        "gpus_low": c.gpus_low,
        "gpus_high": c.gpus_high,
        "tp": c.layout.tp,
        "pp": c.layout.pp,
        "expert_parallel": c.layout.expert_parallel,
        "replicas": c.replicas,
        "decided_by": c.tightest.peak if c.tightest else None,
        "precision": c.precision.weights,
        "kv_dtype": c.precision.kv,
        "fits": c.fits,
        "reason": c.reason,
        "rule": c.rule or None,
        "known": c.known,
        "kv_tokens": c.kv_tokens.to_json() if c.kv_tokens else None,
        "launch": c.launch,
        "holdings": [_holding(h) for h in c.holdings],
        "margins": [
            {"name": m.name, "blocks": m.blocks, "gpus": m.gpus} for m in c.margins
        ],
        "idle_share": rounded(c.idle_share),
        "kv_waste_gib": rounded(c.kv_waste_gib),
        "weights_waste_gib": rounded(c.weights_waste_gib),
        "communication_bytes_per_token": rounded(c.communication_bytes),
        "link": _link(c.link),
        "servers": c.servers,
        "price_per_hour": rounded(c.price_per_hour),
        "quality_evidence_owed": list(c.quality),
        "bounded_by": c.limit or None,
        "notes": list(c.notes),
        "memory": c.memory,
        "speed": c.speed,
        "queue": c.queue,
        "recommended": c.recommended,
        "simulated": simulated_json(c.simulated),
    }  # fmt: skip


def _holding(h: Holding) -> dict[str, object]:
    return {
        "scenario": h.peak,
        "requests_held": {f"p{share * 100:g}": count for share, count in h.held.items()},
        "headroom_blocks": h.headroom_blocks,
        "headroom_reason": h.headroom_reason,
        "mix_tokens": h.mix_tokens.to_json(),
        "replicas": h.replicas,
        "replicas_low": h.replicas_low,
        "replicas_high": h.replicas_high,
        "load_share": rounded(h.load_share),
    }


def _link(link: Link | None) -> dict[str, object] | None:
    if link is None:
        return None
    return {
        "server": link.server,
        "servers_per_replica": link.servers_a_replica,
        "kind": link.kind or None,
        "gb_per_s": link.gb_s,
        "basis": str(link.basis),
        "source": link.source,
    }


def _smaller(card: CardResult) -> dict[str, object]:
    smaller = card.smaller
    if smaller is None:
        return {}
    return {
        "gpu": card.accelerator.name,
        "tp": smaller.layout.tp,
        "pp": smaller.layout.pp,
        "replicas": smaller.replicas,
        "reason": smaller.reason,
        "remedies": list(smaller.remedies),
    }
