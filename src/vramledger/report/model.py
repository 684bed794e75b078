"""A model's inspection as JSON and for a terminal."""

from collections.abc import Iterator
from typing import Any

from vramledger.engine.vllm.loaded import Loaded
from vramledger.evidence import Basis
from vramledger.model.inspection import CacheFigures, Inspection
from vramledger.model.model import Model, Quantization, TowerInput
from vramledger.units import format_bytes

SCHEMA = "vramledger.model/1"
_CACHE_KEYS = (
    "full_bytes_per_token",
    "window_bytes_per_token",
    "window",
    "state_bytes_per_sequence",
    "state_bytes_per_sequence_fp32_ssm",
    "cross_bytes_per_sequence",
    "indexer_bytes_per_token",
)


def to_json(inspection: Inspection, resident: Loaded) -> dict[str, Any]:
    """The object that ``vram inspect --json`` prints; an unknown figure is null with a reason."""
    model = inspection.model
    return {
        "schema": SCHEMA,
        "id": model.id,
        "architecture": model.architecture,
        "model_type": model.model_type,
        "kind": str(model.kind),
        "dtype": str(model.dtype),
        "params_total": inspection.params_total,
        "params_total_basis": str(inspection.params_basis),
        "params_active": inspection.params_active,
        "params_active_basis": str(inspection.params_basis),
        "params_by_role": {str(count.role): count.params for count in inspection.roles},
        "params_beyond_class": inspection.extra_elements,
        "buffer_elements": inspection.buffer_elements,
        "weights_bytes": inspection.weights_bytes,
        "weights_bytes_basis": str(model.weights_basis),
        "weights_bytes_beyond_class": inspection.extra_bytes,
        "weights_bytes_beyond_class_basis": str(model.weights_basis),
        "weights_bytes_bf16": inspection.weights_bytes_bf16,
        "weights_bytes_bf16_basis": str(Basis.DERIVED),
        "weights_resident_bytes": resident.bytes,
        "weights_resident_bytes_basis": str(Basis.DERIVED) if resident.bytes is not None else None,
        "weights_resident_on": {
            "engine": resident.engine,
            "gpu": resident.accelerator,
            "notes": list(resident.notes),
        },
        "tied_embeddings": model.tied_embeddings,
        "quantization": _quantization(model),
        "text": _text(model),
        "towers": [
            {
                "modality": tower.modality,
                "pixels": tower.pixels,
                "tokens": tower.tokens,
                "patches": tower.patches,
                "hidden": tower.hidden,
            }
            for tower in model.towers
        ],
        "cache": _cache(inspection.cache, inspection.cache_reason),
        "not_known": list(inspection.not_known),
        "notes": list(model.notes),
    }


def _shrinks(scheme: Quantization) -> str:
    """What the scheme makes smaller and what it leaves, as a phrase."""
    small = " and ".join(scheme.shrinks) or "nothing"
    kept = " and ".join(scheme.keeps)
    return f"shrinks {small}" + (f"; {kept} as without it" if kept else "")


def _quantization(model: Model) -> dict[str, Any] | None:
    scheme = model.quantization
    if scheme is None:
        return None
    return {
        "method": scheme.method,
        "detail": scheme.detail,
        "shrinks": list(scheme.shrinks),
        "weight_bits": scheme.weight_bits,
        "activation_bits": scheme.activation_bits,
        "kv_dtype": scheme.kv_dtype,
        "group_size": scheme.group_size,
    }


def _text(model: Model) -> dict[str, Any]:
    text = model.text
    experts = text.experts
    return {
        "hidden": text.hidden,
        "layers": text.layers,
        "heads": text.heads,
        "kv_heads": text.kv_heads,
        "head_dim": text.head_dim,
        "intermediate": text.intermediate,
        "vocab": text.vocab,
        "max_positions": text.max_positions,
        "experts": None
        if experts is None
        else {
            "count": experts.count,
            "per_token": experts.per_token,
            "intermediate": experts.intermediate,
            "shared_intermediate": experts.shared_intermediate,
            "layers": experts.layers,
        },
    }


def _cache(cache: CacheFigures | None, reason: str | None) -> dict[str, Any]:
    if cache is None:
        return {**dict.fromkeys(_CACHE_KEYS), "basis": None, "layers": [], "reason": reason}
    return {
        **{key: getattr(cache, key) for key in _CACHE_KEYS},
        "basis": str(Basis.DERIVED),
        "layers": [
            {"kind": line.kind, "layers": line.layers, "sentence": line.sentence}
            for line in cache.lines
        ],
        "reason": None,
    }


def to_text(inspection: Inspection, resident: Loaded) -> str:
    """The lines a person reads: identity, parameters, bytes, caches, what is not known."""
    model = inspection.model
    blocks = [
        [model.id, f"  {_identity(model)}"],
        _listed("Inputs", tuple(map(_tower, model.towers))),
        _parameters(inspection),
        _bytes(inspection, resident),
        _caches(inspection, resident),
        _listed("Notes", model.notes),
        _listed("Not known", inspection.not_known),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _identity(model: Model) -> str:
    text = model.text
    parts = [f"{model.architecture}, {model.kind}"]
    if text.layers:
        parts.append(f"{text.layers} layers of {text.hidden:,}")
    if text.heads:
        parts.append(f"{text.heads} query heads")
    if text.experts is not None:
        parts.append(f"{text.experts.count} experts, {text.experts.per_token} a token")
    if text.vocab:
        parts.append(f"vocabulary {text.vocab:,}")
    if text.max_positions:
        parts.append(f"up to {text.max_positions:,} positions")
    return "; ".join(parts)


def _parameters(inspection: Inspection) -> list[str]:
    lines = [f"Parameters ({inspection.params_basis})", _row("total", inspection.params_total)]
    if inspection.params_active != inspection.params_total:
        lines.append(_row("active for one token", inspection.params_active))
    lines += [_row(f"  {count.role}", count.params) for count in inspection.roles]
    if inspection.extra_elements:
        lines.append(_row("beyond the class", inspection.extra_elements))
    if inspection.buffer_elements:
        lines.append(_row("buffers beside them", inspection.buffer_elements))
    return lines


def _bytes(inspection: Inspection, resident: Loaded) -> list[str]:
    model = inspection.model
    stored = format_bytes(inspection.weights_bytes)
    lines = [
        "Weights",
        f"  {'as stored':<24}{stored:>18}   {model.weights_basis}",
        f"  {'all in bf16':<24}{format_bytes(inspection.weights_bytes_bf16):>18}   {Basis.DERIVED}",
    ]
    if resident.bytes is not None:
        lines.append(
            f"  {'loaded on one GPU':<24}{format_bytes(resident.bytes):>18}   {Basis.DERIVED}, "
            f"{resident.engine} on {resident.accelerator}"
        )
    if inspection.extra_bytes:
        extra = format_bytes(inspection.extra_bytes)
        lines.append(f"  {'beyond the class':<24}{extra:>18}   {model.weights_basis}")
    if model.quantization is not None:
        lines.append(f"  {model.quantization.method}: {model.quantization.detail}")
        lines.append(f"  {_shrinks(model.quantization)}")
    elif model.weights_unknown is not None:
        lines.append(f"  how they are stored is not known; plain {model.dtype} is an upper bound")
    elif model.weights_basis is not Basis.EXACT:
        lines.append(f"  not quantised, {model.dtype}")
    return [*lines, *(f"  {note}" for note in resident.notes)]


def _caches(inspection: Inspection, resident: Loaded) -> list[str]:
    cache = inspection.cache
    if cache is None:
        return ["Cache", "  not known"]
    if not cache.lines:
        return ["Cache", "  none: nothing is kept between tokens"]
    lines = [f"Cache (16-bit, {Basis.DERIVED})"]
    lines += [f"  {line.sentence}" for line in cache.lines]
    if cache.full_bytes_per_token and len(cache.lines) > 1:
        lines.append(f"  each token adds {format_bytes(cache.full_bytes_per_token)} for good")
    return [*lines, *_kept(cache, resident)]


def _kept(cache: CacheFigures, resident: Loaded) -> Iterator[str]:
    """What the engine keeps in types of its own, beside the 16-bit figure."""
    state, indexer = resident.kept.state_bytes_per_sequence, resident.kept.indexer_bytes_per_token
    if state and state != cache.state_bytes_per_sequence:
        single = state == cache.state_bytes_per_sequence_fp32_ssm
        how = "with a float32 state" if single else "in its layers' own types"
        yield (
            f"  state: {format_bytes(cache.state_bytes_per_sequence)} at 16 bit, "
            f"{format_bytes(state)} {how}, as {resident.engine} keeps it for this model"
        )
    if indexer and indexer != cache.indexer_bytes_per_token:
        yield (
            f"  sparse indexer: {format_bytes(cache.indexer_bytes_per_token)} a token at 16 bit, "
            f"{format_bytes(indexer)} in FP8 with scales, as {resident.engine} keeps it"
        )


def _tower(tower: TowerInput) -> str:
    return (
        f"{tower.modality}: the largest takes {tower.tokens:,} tokens of the prompt "
        f"({tower.patches:,} patches of {tower.hidden:,})"
    )


def _listed(title: str, sentences: tuple[str, ...]) -> list[str]:
    return [title, *(f"  {sentence}" for sentence in sentences)] if sentences else []


def _row(name: str, count: int) -> str:
    return f"  {name:<24}{count:>18,}"
