"""The checkpoint that a model's name and a precision mean together.

A name may be a base model or a quantised checkpoint of some vendor (``nvidia/X-FP8``). The precision
wins: a checkpoint of the catalogue in that precision is taken where there is one, else the base model
is quantised as such checkpoints usually are.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.model import catalogue
from vramledger.model.load import load_model
from vramledger.model.model import Model, Quantization
from vramledger.model.quantization import requantize
from vramledger.model.quantization.apply import encoded
from vramledger.model.quantization.encoding import Family, Tiled
from vramledger.model.quantization.formats import nvfp4, packed_int
from vramledger.model.quantization.scheme import Scheme, coverable
from vramledger.model.tensor import Encoding, Role, Tensor

_SUFFIX: Final = re.compile(
    r"[-_](?:fp8(?:[-_]dynamic|[-_]block)?|nvfp4|mxfp4|fp4|awq(?:[-_]int4)?|gptq(?:[-_]int[48])?|"
    r"int[48]|bf16|quantized\.w\da\d+|w4a16|w8a8)\Z",
    re.IGNORECASE,
)
_PLAIN: Final = ("bf16", "bfloat16", "fp16", "float16")
_FAMILIES: Final[Mapping[str, frozenset[Family]]] = {
    "fp8": frozenset({Family.FP8}),
    "fp4": frozenset({Family.NVFP4, Family.MXFP4}),
    "int4": frozenset({Family.GPTQ, Family.AWQ, Family.PACKED_INT}),
}
_ALIASES: Final[Mapping[str, str]] = {
    "nvfp4": "fp4", "mxfp4": "fp4", "int4_wo": "int4", "w4a16": "int4", "fp8_block": "fp8",
    "w8a8": "fp8",
}  # fmt: skip
_GROUP: Final = 128
_ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "fp8": ("-FP8", "-Instruct-FP8"),
    "fp4": ("-NVFP4", "-FP4", "-Instruct-NVFP4", "-Instruct-FP4"),
    "int4": ("-AWQ", "-GPTQ-Int4", "-Instruct-AWQ"),
}


@lru_cache(maxsize=64)
def checkpoint_of(name: str, precision: str | None) -> Model:
    """The model as it is served.

    Raises:
        UnknownName: a model or precision that is none.
        BadInput: the precision cannot be had of this checkpoint.
    """
    found = _named(name)
    if precision is None:
        return found
    wanted = _precision(precision)
    if wanted is None:
        return found if found.quantization is None else _plain(found)
    if _stored_as(found, wanted):
        return found
    return _in_catalogue(found.id, wanted) or _quantised(found, wanted)


def _named(name: str) -> Model:
    """The checkpoint of that name, or the base model that its name leads to."""
    try:
        return load_model(name)
    except (UnknownName, BadInput):
        base = base_name(name)
        if catalogue.find(base) is None:
            raise
        return load_model(base)


def base_name(name: str) -> str:
    """The name without vendor and precision suffix."""
    tail = name.rpartition("/")[2]
    while (shorter := _SUFFIX.sub("", tail)) != tail:
        tail = shorter
    return tail


def _precision(text: str) -> str | None:
    """The precision's usual name; None for plain 16-bit weights."""
    word = text.casefold()
    if word in _PLAIN:
        return None
    word = _ALIASES.get(word, word)
    if word not in _FAMILIES:
        raise UnknownName("precision", text, (*_FAMILIES, *_ALIASES, *_PLAIN))
    return word


def _stored_as(model: Model, wanted: str) -> bool:
    families = {
        getattr(t.encoding, "family", None) for t in model.tensors if t.encoding is not None
    }
    return bool(families & _FAMILIES[wanted])


def _plain(model: Model) -> Model:
    """The unquantised sister of a quantised checkpoint, or the checkpoint with its scheme undone."""
    base = _find(base_name(model.id))
    if base is not None and base.quantization is None:
        return base
    tensors = tuple(replace(t, encoding=None) for t in model.tensors)
    return replace(model, tensors=tensors, quantization=None)


def _find(name: str) -> Model | None:
    try:
        return load_model(name) if catalogue.find(name) is not None else None
    except BadInput:  # several organisations have a model of that name
        return None


def _in_catalogue(model_id: str, wanted: str) -> Model | None:
    base = base_name(model_id)
    bases = (base, base.removesuffix("-Instruct"))
    names = [f"{name}{ending}" for name in bases for ending in _ENDINGS[wanted]]
    vendors = ("nvidia/", f"{model_id.partition('/')[0]}/", "")
    for name in (f"{vendor}{name}" for vendor in vendors for name in names):
        model = _find(name)
        if model is not None and _stored_as(model, wanted):
            return _without_cache_type(model) if wanted == "fp8" else model
    return None


def _without_cache_type(model: Model) -> Model:
    """FP8 weights alone: whether the cache is FP8 too is a question of its own."""
    if model.quantization is None:
        return model
    return replace(model, quantization=replace(model.quantization, kv_dtype=None))


def _quantised(model: Model, wanted: str) -> Model:
    plain = model if model.quantization is None else _plain(model)
    return _QUANTISERS[wanted](plain)


def _fp8(model: Model) -> Model:
    return requantize(model, "fp8")


def _fp4(model: Model) -> Model:
    """All matrices of dense models; experts and MLPs of mixtures, whose attention stays as it is."""
    roles = {Role.EXPERT, Role.SHARED_EXPERT, Role.MLP} if model.text.experts else None
    return encoded(model, _scheme("nvfp4", nvfp4(), 4.5, 4, roles))


def _int4(model: Model) -> Model:
    roles = {Role.EXPERT} if model.text.experts else None
    stored = packed_int(4, _GROUP, symmetric=True, act_order=False)
    return encoded(model, _scheme("compressed-tensors", stored, 4.125, 16, roles))


def _scheme(
    method: str, stored: Tiled, bits: float, activation_bits: int, roles: set[Role] | None
) -> Scheme:
    def encode(tensor: Tensor) -> Encoding | None:
        covered = coverable(tensor, towers=False) and (roles is None or tensor.role in roles)
        return stored if covered else None

    detail = f"Weights in {stored.name}, as checkpoints in that precision usually have them."
    return Scheme(Quantization(method, detail, bits, activation_bits), encode)


_QUANTISERS: Final[Mapping[str, Callable[[Model], Model]]] = {
    "fp8": _fp8,
    "fp4": _fp4,
    "int4": _int4,
}
