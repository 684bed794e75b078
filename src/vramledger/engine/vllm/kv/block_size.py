"""Tokens a block covers, before and after alignment with recurrent states.

Sources: vllm/platforms/{cuda,cpu,rocm,xpu,interface}.py and the attention backends' supported
kernel block sizes.
"""

from collections.abc import Callable
from math import lcm
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.element import CacheType
from vramledger.engine.vllm.rules import HybridBlock
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Vendor
from vramledger.model.cache import CompressedAttention, LatentAttention
from vramledger.units import div_ceil, round_up

DEFAULT: Final = 16
CPU_DEFAULT: Final = 128
_CPU_MLA: Final = 16  # the reference MLA kernel on CPUs without AMX takes no other size
_XPU: Final = 64
_SPARSE: Final = 64
_COMPRESSED: Final = 256  # DeepSeek-V4's kernels take no other size
_AITER_MLA: Final = 1
_R1_WIDTH: Final = 576  # latent and rotary width the fast MLA kernels are built for
_MAMBA_CHUNK: Final = 256  # chunk size of the published Mamba-2 classes


@frozen
class BlockSize:
    """A block size and what the engine does with a user's own value."""

    tokens: int
    forced: bool = False  # a value that is no multiple of it is overridden
    exact: bool = False  # any other value is overridden


def attention_block_size(deployment: Deployment, cache: CacheType) -> int:
    """Tokens of an attention block before any alignment with states."""
    own = _VENDORS[deployment.accelerator.vendor](deployment, cache)
    given = deployment.block_size.value
    if given is None or own.exact or (own.forced and given % own.tokens):
        return own.tokens
    return given


def hybrid_block_size(
    deployment: Deployment,
    block_size: int,
    state_bytes: int,
    token_bytes: int,
    *,
    every_block: bool,
) -> int:
    """The block size enlarged until an attention page of `token_bytes` a token holds a state.

    Args:
        deployment: what is served.
        block_size: the attention block before alignment.
        state_bytes: the largest state of one layer on one rank.
        token_bytes: what a token takes in one attention layer on one rank.
        every_block: states are kept for each block, so that blocks follow the mixer's chunks.
    """
    alignment = _hybrid_alignment(deployment, block_size)
    if every_block:
        alignment = lcm(alignment, deployment.mamba_block_size.value or _MAMBA_CHUNK)
    needed = alignment * div_ceil(state_bytes, alignment * token_bytes)
    needed = round_up(needed, kernel_block(deployment))
    return max(block_size, needed)


def _hybrid_alignment(deployment: Deployment, block_size: int) -> int:
    rules = deployment.rules
    latent = is_latent(deployment)
    if rules.hybrid_block is HybridBlock.SIXTEEN:
        return 16
    if rules.hybrid_block is HybridBlock.KERNEL:
        return max(block_size, 128) if latent and rules.hybrid_mla_block_128 else block_size
    if latent:
        return 128 if _major(deployment) == 10 else 64
    return 32 if _major(deployment) == 10 and deployment.model.text.head_dim == 256 else 16


def kernel_block(deployment: Deployment) -> int:
    """The smallest block the usual attention kernel reads."""
    return _KERNEL_BLOCKS.get(deployment.accelerator.vendor, DEFAULT)


def is_latent(deployment: Deployment) -> bool:
    """Whether the model's attention is MLA."""
    return any(isinstance(layer.spec, LatentAttention) for layer in deployment.model.cache_layers)


def is_sparse(deployment: Deployment) -> bool:
    """Whether an indexer picks the tokens that attention reads (DSA)."""
    return any(
        isinstance(layer.spec, LatentAttention) and layer.spec.indexer_dim > 0
        for layer in deployment.model.cache_layers
    )


def is_compressed(deployment: Deployment) -> bool:
    """Whether layers keep compressed states beside a window (DeepSeek-V4)."""
    return any(
        isinstance(layer.spec, CompressedAttention) for layer in deployment.model.cache_layers
    )


def _major(deployment: Deployment) -> int:
    capability = deployment.accelerator.compute_capability
    return capability[0] if capability else 0


def _nvidia(deployment: Deployment, cache: CacheType) -> BlockSize:
    if is_compressed(deployment):
        return BlockSize(_COMPRESSED, exact=True)
    if not is_latent(deployment):
        return BlockSize(DEFAULT)
    forced = deployment.rules.mla_block_forced
    if is_sparse(deployment):
        return BlockSize(_SPARSE, exact=forced)
    if _latent_width(deployment) != _R1_WIDTH:
        return BlockSize(DEFAULT)
    if forced:
        return BlockSize(_FORCED_MLA.get(_major(deployment), DEFAULT), forced)
    quantised = cache.element_bytes < 2
    return BlockSize(_PREFERRED_MLA.get((_major(deployment), quantised), DEFAULT))


_FORCED_MLA: Final = {9: 64, 10: 128}  # FlashMLA on Hopper, CUTLASS MLA on Blackwell
_PREFERRED_MLA: Final = {
    (9, True): 64,  # FlashMLA: the FlashAttention kernel takes no quantised cache
    (10, False): 32,  # FlashInfer's smallest
    (10, True): 32,
}


def _latent_width(deployment: Deployment) -> int:
    return next(
        layer.spec.width
        for layer in deployment.model.cache_layers
        if isinstance(layer.spec, LatentAttention)
    )


def _amd(deployment: Deployment, cache: CacheType) -> BlockSize:
    del cache
    if is_compressed(deployment):
        return BlockSize(_COMPRESSED, exact=True)
    fused = deployment.environment.get("VLLM_ROCM_USE_AITER") == "1"
    if fused and is_latent(deployment):
        return BlockSize(_AITER_MLA)
    return BlockSize(DEFAULT)


def _xpu(deployment: Deployment, cache: CacheType) -> BlockSize:
    del deployment, cache
    return BlockSize(_XPU)


def _cpu(deployment: Deployment, cache: CacheType) -> BlockSize:
    del cache
    if is_compressed(deployment):
        return BlockSize(_COMPRESSED, exact=True)
    if is_latent(deployment) and "AMX" not in deployment.accelerator.architecture:
        return BlockSize(_CPU_MLA, exact=True)
    return BlockSize(CPU_DEFAULT)


def _other(deployment: Deployment, cache: CacheType) -> BlockSize:
    del deployment, cache
    return BlockSize(DEFAULT)


_KERNEL_BLOCKS: Final = {Vendor.CPU: 32, Vendor.INTEL: 64}

_VENDORS: Final[dict[Vendor, Callable[[Deployment, CacheType], BlockSize]]] = {
    Vendor.NVIDIA: _nvidia,
    Vendor.AMD: _amd,
    Vendor.INTEL: _xpu,
    Vendor.HUAWEI: _other,
    Vendor.CPU: _cpu,
}
