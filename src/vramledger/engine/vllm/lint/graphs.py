"""CUDA graphs and the element type."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.element_type import needs_bfloat16, supports_bfloat16
from vramledger.engine.vllm.features import read_capture_sizes
from vramledger.engine.vllm.lint.rule import Rule, values_of
from vramledger.model.dtype import DType


def _eager(d: Deployment) -> str | None:
    if not d.enforce_eager.value:
        return None
    return (
        "--enforce-eager turns CUDA graphs and compilation off: their memory is free for the "
        "cache, and every decode step pays for its kernel launches."
    )


def _given_twice(d: Deployment) -> str | None:
    compilation = values_of(d).json("compilation-config") or {}
    for flag, key in (
        ("cudagraph-capture-sizes", "cudagraph_capture_sizes"),
        ("max-cudagraph-capture-size", "max_cudagraph_capture_size"),
    ):
        if d.launch.flag(flag) is not None and key in compilation:
            return (
                f"--{flag} and {key} of --compilation-config exclude each other; vLLM refuses to "
                "start. Drop one."
            )
    return None


def _inconsistent_largest(d: Deployment) -> str | None:
    largest = values_of(d).integer("max-cudagraph-capture-size")
    sizes = d.cudagraph_capture_sizes
    if largest is None or not sizes.given or not sizes.value or max(sizes.value) == largest:
        return None
    return (
        f"max_cudagraph_capture_size ({largest}) is not the largest of the captured sizes "
        f"({max(sizes.value)}); vLLM refuses to start."
    )


def _twice_or_inconsistent(d: Deployment) -> str | None:
    return _given_twice(d) or _inconsistent_largest(d)


def _dropped_sizes(d: Deployment) -> str | None:
    values = values_of(d)
    given = read_capture_sizes(values, values.json("compilation-config") or {}) or ()
    tokens = d.max_num_batched_tokens.value
    dropped = sorted({size for size in given if size > tokens})
    if not dropped:
        return None
    return (
        f"CUDA graph sizes {', '.join(map(str, dropped))} are above max_num_batched_tokens "
        f"({tokens}) and are dropped."
    )


def _no_bfloat16(d: Deployment) -> str | None:
    if d.dtype.value is not DType.BFLOAT16 or supports_bfloat16(d.accelerator):
        return None
    return (
        f"{d.accelerator.name} has no bfloat16 (it needs compute capability 8.0); vLLM refuses to "
        "start. Use --dtype half."
    )


def _no_float16(d: Deployment) -> str | None:
    if d.dtype.value is not DType.FLOAT16 or not needs_bfloat16(d.model):
        return None
    return (
        f"vLLM refuses float16 for {d.model.model_type} as numerically unstable; use bfloat16 or "
        "float32."
    )


RULES: Final = (
    Rule("A12", Severity.ERROR, _no_bfloat16, "platforms/cuda.py"),
    Rule("A13", Severity.ERROR, _no_float16, "config/model.py", since=9),
    Rule("L34", Severity.WARNING, _eager, "config/vllm.py"),
    Rule("L35", Severity.ERROR, _twice_or_inconsistent, "engine/arg_utils.py", since=11),
    Rule("L36", Severity.WARNING, _dropped_sizes, "config/vllm.py", since=8),
)
