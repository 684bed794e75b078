"""Adapters, speculative decoding and multimodal input."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint.rule import Rule, values_of

_DRAFTED: Final = frozenset({"eagle", "eagle3", "medusa", "mlp_speculator", "draft_model"})


def _adapters_with_drafts(d: Deployment) -> str | None:
    if d.lora is None or d.speculation is None:
        return None
    need = d.max_num_seqs.value * (d.speculation.tokens + 1)
    if d.max_num_batched_tokens.value >= need:
        return None
    return (
        f"With adapters and {d.speculation.tokens} draft tokens max_num_batched_tokens "
        f"({d.max_num_batched_tokens.value}) must be at least max_num_seqs x "
        f"{d.speculation.tokens + 1} = {need}; vLLM refuses to start."
    )


def _fewer_host_adapters(d: Deployment) -> str | None:
    if d.lora is None or d.lora.max_cpu_loras >= d.lora.max_loras:
        return None
    return (
        f"max_cpu_loras ({d.lora.max_cpu_loras}) is below max_loras ({d.lora.max_loras}); vLLM "
        "refuses to start."
    )


def _no_room_for_drafts(d: Deployment) -> str | None:
    tokens = d.max_num_batched_tokens.value
    if d.speculation is None or tokens > d.speculation.tokens:
        return None
    return (
        f"max_num_batched_tokens ({tokens}) leaves no room beside {d.speculation.tokens} draft "
        "tokens; vLLM refuses to start."
    )


def _item_beyond_step(d: Deployment) -> str | None:
    if not values_of(d).switch("disable-chunked-mm-input"):
        return None
    largest = max(d.model.towers, key=lambda tower: tower.tokens, default=None)
    tokens = d.max_num_batched_tokens.value
    if largest is None or largest.tokens <= tokens:
        return None
    return (
        f"One {largest.modality} takes up to {largest.tokens} tokens, more than "
        f"max_num_batched_tokens ({tokens}), and --disable-chunked-mm-input forbids cutting it; "
        "vLLM refuses to start."
    )


def _unprofiled_encoder(d: Deployment) -> str | None:
    if not d.skip_mm_profiling.value or not d.model.towers:
        return None
    return (
        "--skip-mm-profiling reserves nothing for the multimodal encoder: its peak can run out of "
        "memory while serving."
    )


def _draft_missing(d: Deployment) -> str | None:
    speculation = d.speculation
    if speculation is None or speculation.draft_reference or speculation.method not in _DRAFTED:
        return None
    return (
        f"Speculative decoding by {speculation.method} needs a draft model, and none is named; "
        'vLLM refuses to start. Add "model" to --speculative-config.'
    )


_FOLLOWED: Final = frozenset({"max_position_embeddings", "rope_scaling", "rope_parameters"})


def _overrides(d: Deployment) -> str | None:
    other = sorted((values_of(d).json("hf-overrides") or {}).keys() - _FOLLOWED)
    if not other:
        return None
    return (
        f"--hf-overrides changes {', '.join(other)}, which this account does not follow: put the "
        "changed configuration into a directory and account for that."
    )


RULES: Final = (
    Rule("A18", Severity.ERROR, _draft_missing, "config/speculative.py", since=8),
    Rule("A19", Severity.SILENT, _overrides, "config/model.py"),
    Rule("L37", Severity.ERROR, _adapters_with_drafts, "engine/arg_utils.py", since=11),
    Rule("L38", Severity.ERROR, _fewer_host_adapters, "config/lora.py"),
    Rule("L39", Severity.ERROR, _no_room_for_drafts, "config/vllm.py", since=28),
    Rule("L50", Severity.ERROR, _item_beyond_step, "v1/core/encoder_cache_manager.py", since=8),
    Rule("L51", Severity.SILENT, _unprofiled_encoder, "v1/worker/gpu_model_runner.py", since=10),
)
