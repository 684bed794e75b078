"""Which engine generation starts: V0 or V1, where a release has both.

Source: ``_is_v1_supported_oracle`` of 0.8.0 to 0.10.2. A feature V1 lacks makes the release fall
back to V0, unless ``VLLM_USE_V1=1`` forbids it; then it refuses to start.
"""

from collections.abc import Callable
from typing import Final

from vramledger.engine.vllm.model_traits import Traits
from vramledger.engine.vllm.rules import Release
from vramledger.engine.vllm.values import Values
from vramledger.engine.vllm.versions import has_both_generations, runs_v1_by_default
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.model.dtype import DType
from vramledger.model.model import Model

_V1_DRAFTS: Final = frozenset({"ngram", "medusa", "eagle", "eagle3", "deepseek_mtp"})
_SWITCH: Final = "VLLM_USE_V1"


@frozen
class Candidate:
    """What the choice of generation looks at."""

    values: Values
    model: Model
    traits: Traits
    gpu: Accelerator
    dtype: DType


@frozen
class Generation:
    """The engine generation; `note` says why when it is not the release's own default.

    `refused` says why the release would not start with the generation that was asked for.
    """

    v1: bool
    note: str = ""
    refused: str = ""


@frozen
class _Fallback:
    """A feature that V1 lacks through a release; `until` is the first that supports it."""

    until: Release
    feature: str
    applies: Callable[[Candidate], bool]


def choose_generation(release: Release, candidate: Candidate) -> Generation:
    """The generation that starts for that release, launch, model and GPU."""
    asked = candidate.values.environment_switch(_SWITCH)
    if not has_both_generations(release):
        return Generation(runs_v1_by_default(release))
    if asked is False:
        note = f"{_SWITCH}=0 asks for the V0 engine." if runs_v1_by_default(release) else ""
        return Generation(v1=False, note=note)
    if not runs_v1_by_default(release):
        note = f"{_SWITCH}=1 asks for the V1 engine, not yet the default." if asked else ""
        return Generation(bool(asked), note)
    for fallback in _FALLBACKS:
        if release < fallback.until and fallback.applies(candidate):
            if asked:
                return Generation(
                    v1=True, refused=f"{_SWITCH}=1 does not go with {fallback.feature}."
                )
            return Generation(
                v1=False, note=f"V1 has no {fallback.feature} yet, so the V0 engine starts."
            )
    return Generation(v1=True)


def _speculative_method(candidate: Candidate) -> str:
    config = candidate.values.json("speculative-config") or {}
    method = str(config.get("method") or config.get("model") or "")
    if not config:
        method = candidate.values.text("speculative-model") or ""
    return method.strip("[]").casefold()


def _cache_type_unsupported(candidate: Candidate) -> bool:
    """An FP8 cache needs FlashAttention 3, which needs Hopper, or data-centre Blackwell."""
    cache = candidate.values.text("kv-cache-dtype") or "auto"
    if cache == "auto" or candidate.gpu.vendor is Vendor.AMD:
        return False
    major = (candidate.gpu.compute_capability or (0, 0))[0]
    return not (cache.startswith("fp8") and major in (9, 10))


def _cache_type_unsupported_by_default(candidate: Candidate) -> bool:
    """From 0.10.2 latent attention and a named backend take an FP8 cache on any card."""
    named = candidate.values.launch.environment.get("VLLM_ATTENTION_BACKEND")
    return not (named or candidate.traits.mla) and _cache_type_unsupported(candidate)


def _has_draft_model(candidate: Candidate) -> bool:
    method = _speculative_method(candidate)
    return bool(method) and method not in _V1_DRAFTS


def _is_gguf(candidate: Candidate) -> bool:
    stored = candidate.model.quantization
    return candidate.values.text("quantization") == "gguf" or (
        stored is not None and stored.method == "gguf"
    )


def _pipeline_without_ray(candidate: Candidate) -> bool:
    stages = candidate.values.integer("pipeline-parallel-size") or 1
    return stages > 1 and candidate.values.text("distributed-executor-backend") != "ray"


def _older_than_ampere(candidate: Candidate) -> bool:
    return candidate.gpu.vendor is Vendor.NVIDIA and (
        candidate.gpu.compute_capability or (8, 0)
    ) < (8, 0)


def _given(*names: str) -> Callable[[Candidate], bool]:
    def applies(candidate: Candidate) -> bool:
        return any(candidate.values.launch.flag(name) for name in names)

    return applies


_GONE: Final[Release] = (0, 11, 0)
_FALLBACKS: Final = (
    _Fallback((0, 10, 2), "GPU below compute capability 8.0", _older_than_ampere),
    _Fallback((0, 10, 2), "KV cache of that type on this GPU", _cache_type_unsupported),
    _Fallback(_GONE, "KV cache of that type on this GPU", _cache_type_unsupported_by_default),
    _Fallback((0, 9, 1), "float32", lambda c: c.dtype is DType.FLOAT32),
    _Fallback((0, 9, 2), "pooling models", lambda c: c.traits.pooling),
    _Fallback(_GONE, "encoder-decoder models", lambda c: c.traits.encoder_decoder),
    _Fallback(
        (0, 10, 2), "recurrent state", lambda c: c.traits.hybrid or c.traits.attention_free
    ),
    _Fallback((0, 9, 0), "GGUF weights", _is_gguf),
    _Fallback(
        (0, 9, 0), "speculative decoding by default", lambda c: bool(_speculative_method(c))
    ),
    _Fallback((0, 10, 0), "separate draft model", _has_draft_model),
    _Fallback((0, 8, 1), "LoRA by default", _given("enable-lora")),
    _Fallback((0, 8, 5), "KV transfer", _given("kv-transfer-config")),
    _Fallback((0, 8, 1), "CPU offload", _given("cpu-offload-gb")),
    _Fallback((0, 9, 1), "pipeline parallelism without Ray", _pipeline_without_ray),
    _Fallback((0, 9, 2), "AMD GPU by default", lambda c: c.gpu.vendor is Vendor.AMD),
    _Fallback((0, 9, 2), "CPU by default", lambda c: c.gpu.vendor is Vendor.CPU),
    _Fallback((0, 10, 2), "prompt embeddings", _given("enable-prompt-embeds")),
    _Fallback(
        (0, 10, 2),
        "multi-step scheduling or scheduler delay",
        _given("num-scheduler-steps", "scheduler-delay-factor", "preemption-mode",
               "disable-async-output-proc"),
    ),
    _Fallback(
        _GONE,
        "concurrent partial prefills",
        _given("max-num-partial-prefills", "max-long-partial-prefills"),
    ),
)  # fmt: skip
