"""Cache types: how many bytes one token takes in one layer, by ``--kv-cache-dtype``.

Sources: vllm/config/cache.py (names by version), v1/kv_cache_interface.py and the backends'
page layouts (packed slots), layers/quantization/turboquant/config.py (slot sizes).
"""

from collections.abc import Callable
from typing import Final

from vramledger.engine.vllm.kv.family import Family, family_of
from vramledger.engine.vllm.rules import Rules
from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.model.cache import LatentAttention
from vramledger.model.dtype import DType
from vramledger.units import div_ceil, round_up

_FP8_GROUP: Final = 128  # latent elements that share one float32 scale in fp8_ds_mla
_NVFP4_GROUP: Final = 16  # elements that share one fp8 scale
_TOKEN_HEAD_SCALES: Final = 8  # one float32 scale for the key, one for the value
_TURBOQUANT_KEY_NORM: Final = 2  # one float16 norm a key
_TURBOQUANT_VALUE_SCALES: Final = 4  # float16 scale and zero point a value

HeadBytes = Callable[[int, int], int]  # (key width, value width) -> bytes of one head's slot
LatentBytes = Callable[[LatentAttention], int]


@frozen
class CacheType:
    """A KV cache type in the engine's words."""

    name: str
    head_bytes: HeadBytes
    latent_bytes: LatentBytes | None  # None: the engine refuses it for MLA
    element_bytes: float  # nominal bytes of one element, scales not counted
    keeps_boundary_layers: int = 0  # first and last layers left at the model's type (dense models)

    def latent(self, spec: LatentAttention) -> int:
        """Bytes a token takes in one MLA layer, its indexer not counted.

        Raises:
            BadInput: the engine has no MLA kernel for this cache type.
        """
        if self.latent_bytes is None:
            raise BadInput(
                f"--kv-cache-dtype {self.name} does not exist for MLA attention; "
                "use auto or fp8 with this model."
            )
        return self.latent_bytes(spec)


@frozen
class _Entry:
    since: Family
    type: CacheType


def plain(name: str, nbytes: int) -> CacheType:
    """A cache of plain elements."""
    return CacheType(
        name,
        head_bytes=lambda key, value: (key + value) * nbytes,
        latent_bytes=lambda spec: spec.width * nbytes,
        element_bytes=nbytes,
    )


def native(dtype: DType) -> CacheType:
    """What ``auto`` means when the checkpoint declares nothing: the model's own type."""
    return plain(str(dtype), dtype.nbytes)


def _per_token_head(name: str, bits: int) -> CacheType:
    return CacheType(
        name,
        head_bytes=lambda key, value: (key * bits + value * bits) // 8 + _TOKEN_HEAD_SCALES,
        latent_bytes=lambda spec: spec.width * bits // 8 + _TOKEN_HEAD_SCALES,
        element_bytes=bits / 8,
    )


def _turboquant(name: str, key_bits: int, value_bits: int) -> CacheType:
    def head_bytes(key: int, _value: int) -> int:
        key_norm = 0 if key_bits == 8 else _TURBOQUANT_KEY_NORM
        packed_key = div_ceil(key * key_bits, 8) + key_norm
        packed_value = div_ceil(key * value_bits, 8) + _TURBOQUANT_VALUE_SCALES
        return round_up(packed_key + packed_value, 2)

    return CacheType(
        name, head_bytes, None, element_bytes=(key_bits + value_bits) / 16, keeps_boundary_layers=2
    )


def _nvfp4(name: str) -> CacheType:
    def side(width: int) -> int:
        return width // 2 + width // _NVFP4_GROUP

    return CacheType(name, lambda key, value: side(key) + side(value), None, element_bytes=0.5)


_FP8_DS_MLA: Final = CacheType(
    "fp8_ds_mla",
    head_bytes=lambda key, value: key + value,
    latent_bytes=lambda spec: spec.rank + 4 * (spec.rank // _FP8_GROUP) + 2 * spec.rope_dim,
    element_bytes=1,
)
_NVFP4_DS_MLA: Final = CacheType(
    "nvfp4_ds_mla",
    head_bytes=lambda key, value: key + value,
    latent_bytes=lambda spec: spec.rank // 2 + spec.rank // _NVFP4_GROUP + spec.rope_dim,
    element_bytes=0.5,
)

_TYPES: Final = {
    "fp8": _Entry((0, 4), plain("fp8", 1)),
    "fp8_e4m3": _Entry((0, 4), plain("fp8_e4m3", 1)),
    "fp8_e5m2": _Entry((0, 4), plain("fp8_e5m2", 1)),
    "fp8_inc": _Entry((0, 10), plain("fp8_inc", 1)),
    "bfloat16": _Entry((0, 11), plain("bfloat16", 2)),
    "fp8_ds_mla": _Entry((0, 11), _FP8_DS_MLA),
    "float16": _Entry((0, 18), plain("float16", 2)),
    "int8_per_token_head": _Entry((0, 20), _per_token_head("int8_per_token_head", 8)),
    "fp8_per_token_head": _Entry((0, 20), _per_token_head("fp8_per_token_head", 8)),
    "turboquant_k8v4": _Entry((0, 20), _turboquant("turboquant_k8v4", 8, 4)),
    "turboquant_4bit_nc": _Entry((0, 20), _turboquant("turboquant_4bit_nc", 4, 4)),
    "turboquant_k3v4_nc": _Entry((0, 20), _turboquant("turboquant_k3v4_nc", 3, 4)),
    "turboquant_3bit_nc": _Entry((0, 20), _turboquant("turboquant_3bit_nc", 3, 3)),
    "nvfp4": _Entry((0, 20), _nvfp4("nvfp4")),
    "int4_per_token_head": _Entry((0, 26), _per_token_head("int4_per_token_head", 4)),
    "nvfp4_ds_mla": _Entry((0, 30), _NVFP4_DS_MLA),
    "nvfp4_4over6": _Entry((0, 32), _nvfp4("nvfp4_4over6")),
}


def cache_type(name: str, rules: Rules) -> CacheType:
    """The cache type of that name in that version; ``auto`` is resolved before.

    Raises:
        UnknownName: the version has no such type; its own are listed.
    """
    family = family_of(rules)
    known = {key: entry.type for key, entry in _TYPES.items() if entry.since <= family}
    if name not in known:
        raise UnknownName(
            f"--kv-cache-dtype for vLLM {rules.family}",
            name,
            ["auto", *known],
            hint=f"vLLM {rules.family} knows auto, {', '.join(known)}.",
        )
    return known[name]
