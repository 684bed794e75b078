"""KV transfer connectors and the hybrid KV cache manager.

Source: the connector classes of 0.18.0 to 0.33.0 and ``VllmConfig.__post_init__``.
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.engine.setting import Origin, Setting
from vramledger.engine.vllm.model_traits import Traits
from vramledger.engine.vllm.rules import Release
from vramledger.engine.vllm.values import Values

# The first release whose connector works with the hybrid KV cache manager.
HYBRID_SINCE: Final[Mapping[str, Release]] = {
    "NixlConnector": (0, 18, 0),
    "NixlPullConnector": (0, 24, 0),
    "NixlPushConnector": (0, 24, 0),
    "SimpleCPUOffloadConnector": (0, 19, 0),
    "MooncakeConnector": (0, 20, 0),
    "OffloadingConnector": (0, 21, 0),
    "DecodeBenchConnector": (0, 21, 0),
    "ExampleHiddenStatesConnector": (0, 22, 0),
    "MooncakeStoreConnector": (0, 22, 0),
    "HiSparseConnector": (0, 29, 0),
    "MoRIIOConnector": (0, 29, 0),
    "UMBPStoreConnector": (0, 33, 0),
}
_MULTI: Final = "MultiConnector"
_MULTI_SINCE: Final[Release] = (0, 21, 0)
_CHUNKED_ALLOWED: Final = "VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE"
_CHUNKED_SINCE: Final[Release] = (0, 10, 1)
_CHUNKED_ALLOWED_SINCE: Final[Release] = (0, 14, 0)  # the variable defaults to 1 from here


def connector_name(values: Values) -> str | None:
    """The connector that the launch selects, ``--kv-offloading-size`` included."""
    config = values.json("kv-transfer-config")
    if config is not None:
        return str(config.get("kv_connector") or "") or None
    if values.number("kv-offloading-size"):
        backend = values.text("kv-offloading-backend") or "native"
        simple = values.environment_switch("VLLM_USE_SIMPLE_KV_OFFLOAD")
        native = "SimpleCPUOffloadConnector" if simple else "OffloadingConnector"
        return "LMCacheConnectorV1" if backend == "lmcache" else native
    return None


def supports_hybrid(name: str, config: Mapping[str, Any], release: Release) -> bool:
    """Whether the hybrid KV cache manager stays on with that connector."""
    if name == _MULTI:
        children = config.get("kv_connector_extra_config", {})
        listed = children.get("connectors") if isinstance(children, dict) else None
        if not isinstance(listed, list):
            return False
        return release >= _MULTI_SINCE and all(
            isinstance(child, dict)
            and supports_hybrid(str(child.get("kv_connector")), child, release)
            for child in listed
        )
    since = HYBRID_SINCE.get(name)
    return since is not None and release >= since


def resolve_hybrid_manager(
    values: Values, release: Release, traits: Traits, name: str | None
) -> Setting[bool]:
    """``disable_hybrid_kv_cache_manager`` after vLLM's own reasons to turn it off."""
    given = values.switch("disable-hybrid-kv-cache-manager")
    if given is not None:
        return Setting(given, Origin.GIVEN)
    if name is not None:
        config = values.json("kv-transfer-config") or {}
        if not supports_hybrid(name, config, release):
            return Setting(
                True,
                Origin.DERIVED,
                f"{name} does not work with the hybrid KV cache manager, so it is off.",
            )
    allowed = values.environment_switch(_CHUNKED_ALLOWED)
    if allowed is None:
        allowed = release >= _CHUNKED_ALLOWED_SINCE
    if traits.chunked_local and release >= _CHUNKED_SINCE and not allowed:
        return Setting(
            True,
            Origin.DERIVED,
            f"Chunked local attention turns the hybrid KV cache manager off; {_CHUNKED_ALLOWED}=1 "
            "keeps it on.",
        )
    return Setting(False)
