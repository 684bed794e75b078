"""KV connectors, the hybrid KV cache manager and host-tier sparse attention."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.connectors import supports_hybrid
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint.rule import Rule, minor_of, values_of
from vramledger.engine.vllm.model_traits import traits_of

_ALLOCATOR: Final = "PYTORCH_CUDA_ALLOC_CONF"
_EXPANDABLE: Final = "expandable_segments:True"


def _mixed(d: Deployment) -> bool:
    """Whether the model has caches that the hybrid manager keeps apart."""
    traits = traits_of(d.model)
    return (
        traits.hybrid
        or traits.chunked_local
        or bool(traits.window and not traits.every_layer_slides)
    )


def _explicit_manager(d: Deployment) -> str | None:
    manager = d.disable_hybrid_kv_cache_manager
    if not manager.given or manager.value or d.kv_connector is None:
        return None
    config = values_of(d).json("kv-transfer-config") or {}
    if supports_hybrid(d.kv_connector, config, (0, minor_of(d), 0)):
        return None
    return (
        f"The hybrid KV cache manager is asked for, and {d.kv_connector} does not support it; "
        "vLLM refuses to start."
    )


def _connector_turns_off(d: Deployment) -> str | None:
    manager = d.disable_hybrid_kv_cache_manager
    if d.kv_connector is None or manager.given or not manager.value or not _mixed(d):
        return None
    cost = (
        "recurrent layers fail at start"
        if traits_of(d.model).hybrid
        else "sliding-window layers cost as much cache as full attention"
    )
    return f"{d.kv_connector} turns the hybrid KV cache manager off: {cost}."


def _chunked_local(d: Deployment) -> str | None:
    manager = d.disable_hybrid_kv_cache_manager
    if not traits_of(d.model).chunked_local or manager.given or not manager.value:
        return None
    if d.kv_connector is not None:
        return None
    return (
        "Chunked local attention turns the hybrid KV cache manager off, so those layers cost as "
        "much cache as full attention; "
        "VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE=1 keeps it on."
    )


def _moving_segments(d: Deployment) -> str | None:
    if d.kv_connector is None or _EXPANDABLE not in d.environment.get(_ALLOCATOR, ""):
        return None
    values = values_of(d)
    if values.switch("enable-cumem-allocator") or values.switch("enable-sleep-mode"):
        return None
    return (
        f"{d.kv_connector} registers cache memory, which {_ALLOCATOR}={_EXPANDABLE} may move; "
        "vLLM refuses to start. Unset it or add --enable-cumem-allocator."
    )


def _host_sparse(d: Deployment) -> str | None:
    config = values_of(d).json("attention-config") or {}
    if not config.get("hisparse_config"):
        return None
    broken = [
        text
        for text, holds in (
            ("pipeline parallelism", d.layout.pp > 1),
            ("decode context parallelism", d.layout.dcp > 1),
            ("cudagraph_mode FULL", d.cudagraph_mode == "FULL"),
            ("--no-scheduler-reserve-full-isl",
             values_of(d).switch("scheduler-reserve-full-isl") is False),
        )
        if holds
    ]  # fmt: skip
    if not broken:
        return None
    return f"HiSparse does not go with {', '.join(broken)}; vLLM refuses to start."


RULES: Final = (
    Rule("L28", Severity.ERROR, _explicit_manager, "config/vllm.py", since=13),
    Rule("L29", Severity.WARNING, _connector_turns_off, "config/vllm.py", since=9),
    Rule("L30", Severity.WARNING, _chunked_local, "config/vllm.py", since=10),
    Rule("L46", Severity.ERROR, _moving_segments, "config/vllm.py", since=21),
    Rule("L61", Severity.ERROR, _host_sparse, "config/vllm.py", since=30),
)
