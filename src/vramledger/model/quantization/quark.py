"""``quant_method: quark`` (AMD): one weight specification, exceptions, and overrides a module."""

from collections.abc import Callable, Mapping
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList
from vramledger.model.quantization.scheme import Scheme, coverable, left_out, module_of
from vramledger.model.quantization.section import names
from vramledger.model.tensor import Encoding, Tensor

_WEIGHT_BITS: Final = {"fp8_e4m3": 8.0, "int8": 8.0, "fp4": 4.25, "mxfp6": 6.25, "int4": 4.125}
ENCODINGS: Final[Mapping[tuple[str, str], Callable[[int], Encoding]]] = {
    ("fp8_e4m3", "per_tensor"): lambda _: formats.fp8_tensor(),
    ("fp8_e4m3", "per_channel"): lambda _: formats.fp8_channel(scale_bits=32),
    ("int8", "per_tensor"): lambda _: formats.int8_tensor(),
    ("int8", "per_channel"): lambda _: formats.int8_channel(),
    ("int4", "per_group"): lambda group: formats.packed_int(
        4, group or 128, symmetric=True, act_order=False
    ),
    ("fp4", "per_group"): lambda _: formats.mxfp4(),
    ("fp6_e3m2", "per_group"): lambda _: formats.mxfp6(),
    ("fp6_e2m3", "per_group"): lambda _: formats.mxfp6(),
}


def read(section: Config, _config: Config) -> Scheme:
    """The scheme of a section.

    Raises:
        BadInput: no weight specification.
        UnknownName: an element type or granularity that is none of ours.
    """
    everywhere = section.sub("global_quant_config")
    weight = everywhere.sub("weight") if everywhere is not None else None
    if everywhere is None or weight is None:
        raise BadInput(f"{section.where} has no weight specification under 'global_quant_config'.")
    encoding = _encoding(weight)
    overrides = _overrides(section)
    listed = names(section, "exclude")
    skipped = ModuleList(listed, f"{section.where}, 'exclude'")

    def encode(tensor: Tensor) -> Encoding | None:
        module = module_of(tensor)
        if not coverable(tensor) or skipped.covers(module):
            return None
        return next((own for names_, own in overrides if names_.covers(module)), encoding)

    return Scheme(
        Quantization(
            method="quark",
            detail=left_out(f"Quark {encoding.name} weights", listed),
            weight_bits=_WEIGHT_BITS.get(weight.text("dtype"), 8.0),
            activation_bits=16 if everywhere.sub("input_tensors") is None else 8,
            kv_dtype="fp8" if section.raw("kv_cache_quant_config") else None,
        ),
        encode,
    )


def _encoding(weight: Config) -> Encoding:
    key = (weight.text("dtype"), weight.text("qscheme", "per_tensor"))
    make = ENCODINGS.get(key)
    if make is None:
        known = [" ".join(name) for name in ENCODINGS]
        raise UnknownName("Quark weight format", " ".join(key), known, weight.where)
    return make(weight.integer("group_size", 0, least=0))


def _overrides(section: Config) -> tuple[tuple[ModuleList, Encoding], ...]:
    layers = section.sub("layer_quant_config")
    found = []
    for name in layers.values if layers is not None else ():
        entry = layers.sub(name) if layers is not None else None
        weight = entry.sub("weight") if entry is not None else None
        if weight is not None:
            found.append((ModuleList((name,), section.where), _encoding(weight)))
    return tuple(found)
