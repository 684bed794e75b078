"""``quant_method: modelopt``: one algorithm for the model, or one a module (``quantized_layers``)."""

from collections.abc import Callable, Mapping
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList, unwrapped
from vramledger.model.quantization.scheme import Scheme, coverable, left_out, module_of
from vramledger.model.quantization.section import names
from vramledger.model.tensor import Encoding, Tensor

_MIXED: Final = "MIXED_PRECISION"


@frozen
class Algorithm:
    """What one of ModelOpt's algorithms does to a matrix."""

    encoding: Callable[[int], Encoding]  # takes the group size, 0 where none is given
    weight_bits: float
    activation_bits: int
    block: tuple[int, int] | None = None


ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    "FP8": Algorithm(lambda _: formats.fp8_tensor(static_activations=True), 8.0, 8),
    "FP8_PER_CHANNEL_PER_TOKEN": Algorithm(lambda _: formats.fp8_channel(scale_bits=32), 8.0, 8),
    "FP8_PB_WO": Algorithm(lambda _: formats.fp8_block(128, 128), 8.0, 16, (128, 128)),
    "FP8_PB_REAL": Algorithm(lambda _: formats.fp8_block(128, 128), 8.0, 8, (128, 128)),
    "NVFP4": Algorithm(lambda group: formats.nvfp4(group or 16), 4.5, 4),
    "NVFP4_AWQ": Algorithm(lambda group: formats.nvfp4(group or 16), 4.5, 4),
    "W4A16_NVFP4": Algorithm(lambda group: formats.nvfp4(group or 16, input_scale=False), 4.5, 16),
    "MXFP8": Algorithm(lambda _: formats.mxfp8(), 8.25, 8),
    "W4A16_AWQ": Algorithm(
        lambda group: formats.packed_int(4, group or 128, symmetric=True, act_order=False),
        4.125,
        16,
    ),
    "W8A16": Algorithm(lambda _: formats.int8_channel(), 8.0, 16),
    "W8A8_SQ_PER_CHANNEL": Algorithm(lambda _: formats.int8_channel(), 8.0, 8),
}


def read(section: Config, _config: Config) -> Scheme:
    """The scheme of a section; modules of ``quantized_layers`` first, the exceptions after.

    Raises:
        UnknownName: an algorithm that is none of ours.
        BadInput: neither an algorithm nor modules are given.
    """
    listed = names(section, "exclude_modules", "ignore")
    skipped = ModuleList(listed, section.where)
    by_module = _by_module(section)
    default = _default(section, by_module)

    def encode(tensor: Tensor) -> Encoding | None:
        if not coverable(tensor):
            return None
        module = unwrapped(module_of(tensor))
        named = _nearest_ancestor(module, by_module)
        if named is not None:
            return named
        return None if skipped.covers(module_of(tensor)) else default.encoding

    return Scheme(
        Quantization(
            method=default.method,
            detail=left_out(f"ModelOpt {default.name} weights", listed),
            weight_bits=default.algorithm.weight_bits,
            activation_bits=default.algorithm.activation_bits,
            kv_dtype=_kv_dtype(section),
            group_size=section.integer("group_size", 0, least=0),
            block=default.algorithm.block,
        ),
        encode,
    )


@frozen
class _Default:
    """What modules without an entry of their own get; no encoding where only named ones count."""

    name: str
    method: str
    algorithm: Algorithm
    encoding: Encoding | None


def _default(section: Config, by_module: Mapping[str, Encoding]) -> _Default:
    name = section.text("quant_algo").upper()
    if name != _MIXED:
        algorithm = _algorithm(name, f"{section.where}, 'quant_algo'")
        encoding = algorithm.encoding(section.integer("group_size", 0, least=0))
        return _Default(name, _method(name), algorithm, encoding)
    if not by_module:
        raise BadInput(
            f"{section.where}: 'quant_algo' is MIXED_PRECISION but 'quantized_layers' names nothing."
        )
    layers = section.sub("quantized_layers")
    smallest = min(_algorithms(layers), key=lambda found: found.weight_bits)
    return _Default("mixed-precision", "modelopt", smallest, None)


def _method(algorithm: str) -> str:
    return "nvfp4" if "NVFP4" in algorithm else "modelopt"


def _algorithms(layers: Config | None) -> list[Algorithm]:
    found = []
    for name in layers.values if layers is not None else ():
        entry = layers.sub(name) if layers is not None else None
        if entry is not None:
            found.append(_algorithm(entry.text("quant_algo").upper(), entry.where))
    return found


def _by_module(section: Config) -> Mapping[str, Encoding]:
    layers = section.sub("quantized_layers")
    if layers is None:
        return {}
    encodings: dict[str, Encoding] = {}
    for name in layers.values:
        entry = layers.sub(name)
        if entry is not None:
            algorithm = _algorithm(entry.text("quant_algo").upper(), entry.where)
            encodings[unwrapped(name)] = algorithm.encoding(entry.integer("group_size", 0, least=0))
    return encodings


def _algorithm(name: str, where: str) -> Algorithm:
    algorithm = ALGORITHMS.get(name)
    if algorithm is None:
        raise UnknownName("ModelOpt algorithm", name, ALGORITHMS, where)
    return algorithm


def _nearest_ancestor(module: str, by_module: Mapping[str, Encoding]) -> Encoding | None:
    while module:
        if module in by_module:
            return by_module[module]
        module = module.rpartition(".")[0]
    return None


def _kv_dtype(section: Config) -> str | None:
    algorithm = section.raw("kv_cache_quant_algo")
    if isinstance(algorithm, str):
        return algorithm.lower()
    scheme = section.sub("kv_cache_scheme")
    if scheme is None:
        return None
    return {8: "fp8", 4: "nvfp4"}.get(scheme.integer("num_bits", 8))
