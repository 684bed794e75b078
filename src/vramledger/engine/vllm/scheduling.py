"""Chunked prefill, prefix caching and asynchronous scheduling where the launch leaves them open.

Source: ``EngineArgs`` and ``VllmConfig`` of 0.4.2 to 0.33.0.
"""

from typing import Final

from vramledger.engine.setting import Layout, Origin, Setting
from vramledger.engine.vllm.deployment import Speculation
from vramledger.engine.vllm.model_traits import Traits
from vramledger.engine.vllm.rules import Rules
from vramledger.engine.vllm.values import Values
from vramledger.hardware.accelerator import Vendor

_LONG_CONTEXT: Final = 32768
_ASYNC_DRAFTS: Final = frozenset({"eagle", "eagle3", "mtp", "ngram_gpu", "dflash", "dspark"})
_ASYNC_EXECUTORS: Final = frozenset({"uni", "mp", "external_launcher"})


def resolve_chunked_prefill(
    values: Values, traits: Traits, rules: Rules, max_model_len: int
) -> Setting[bool]:
    """Whether a prompt may be cut over steps."""
    given = values.switch("enable-chunked-prefill")
    if rules.chunked_prefill_default:
        plain = not (traits.encoder_decoder or traits.bidirectional)
        if given is not None:
            return Setting(given, Origin.GIVEN)
        return Setting(plain)
    if given is not None:
        return Setting(given, Origin.GIVEN)
    long = rules.chunked_prefill_by_length and max_model_len > _LONG_CONTEXT
    blocked = (
        traits.multimodal
        or traits.mla
        or traits.pooling
        or traits.every_layer_slides
        or traits.hybrid
        or traits.attention_free
        or values.switch("enable-lora")
        or values.launch.flag("speculative-model") is not None
        or values.launch.flag("speculative-config") is not None
    )
    if long and not blocked:
        return Setting(
            True,
            Origin.DERIVED,
            f"V0 cuts prompts when max_model_len is above {_LONG_CONTEXT}.",
        )
    return Setting(False)


def resolve_prefix_caching(values: Values, traits: Traits, rules: Rules) -> Setting[bool]:
    """Whether finished blocks are kept for requests with the same beginning."""
    given = values.switch("enable-prefix-caching")
    if given is not None:
        return Setting(given, Origin.GIVEN)
    if not rules.v1 or traits.bidirectional or traits.encoder_decoder or traits.attention_free:
        return Setting(False)
    if traits.hybrid:
        return Setting(rules.hybrid_prefix_caching and not traits.pooling)
    return Setting(True)


def resolve_async(
    values: Values,
    traits: Traits,
    rules: Rules,
    layout: Layout,
    speculation: Speculation | None,
    vendor: Vendor,
) -> Setting[bool]:
    """Whether the next step is scheduled before the last one has returned."""
    given = values.switch("async-scheduling")
    if given is not None and vendor is not Vendor.CPU:
        return Setting(given, Origin.GIVEN)
    if not rules.async_scheduling or traits.pooling or vendor is Vendor.CPU:
        return Setting(False)
    if layout.pp > 1 and not rules.async_with_pipeline:
        return Setting(False, Origin.DERIVED, "Off with pipeline stages on this version.")
    if speculation is not None and speculation.method not in _ASYNC_DRAFTS:
        return Setting(
            False, Origin.DERIVED, f"Off with {speculation.method} speculative decoding."
        )
    executor = values.text("distributed-executor-backend") or "mp"
    if executor not in _ASYNC_EXECUTORS:
        return Setting(False, Origin.DERIVED, f"The {executor} executor does not support it.")
    return Setting(True)
