"""``quant_method: compressed-tensors``: groups of targets, each with its weight arguments."""

from collections.abc import Callable, Mapping
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList
from vramledger.model.quantization.scheme import Scheme, coverable, left_out, module_of
from vramledger.model.quantization.section import group_size, names
from vramledger.model.tensor import Encoding, Tensor

_CLASS_TARGETS: Final = ("Linear", "FusedMoE")  # module classes rather than names


@frozen
class Weights:
    """The weight arguments of a group."""

    kind: str  # "int" or "float"
    bits: int
    strategy: str  # "tensor", "channel", "group", "block", "tensor_group"
    group: int
    block: tuple[int, int] | None
    symmetric: bool
    act_order: bool
    static_activations: bool


@frozen
class Group:
    """One group of a section: which modules, and how their weights are stored."""

    targets: ModuleList  # by name; empty where only classes are named
    every_linear: bool
    weights: Weights
    encoding: Encoding
    activation_bits: int


def read(section: Config, _config: Config) -> Scheme:
    """The scheme of a section; a group that names modules goes before one that names a class.

    Raises:
        UnknownName: a format of weights we do not know.
        BadInput: a group without weights, or a section without groups.
    """
    groups = read_groups(section)
    listed = names(section, "ignore")
    skipped = ModuleList(listed, f"{section.where}, 'ignore'")
    widest = max(groups, key=lambda group: group.every_linear)

    def encode(tensor: Tensor) -> Encoding | None:
        if not coverable(tensor) or skipped.covers(module_of(tensor)):
            return None
        return _encoding_for(module_of(tensor), groups)

    return Scheme(
        Quantization(
            method="compressed-tensors",
            detail=left_out(_describe(groups), listed),
            weight_bits=float(widest.weights.bits),
            activation_bits=widest.activation_bits,
            kv_dtype=kv_dtype(section),
            group_size=widest.weights.group,
            block=widest.weights.block,
            act_order=widest.weights.act_order,
        ),
        encode,
    )


def read_groups(section: Config) -> tuple[Group, ...]:
    """The groups of ``config_groups``, in order."""
    groups = section.sub("config_groups")
    if groups is None or all(group is None for group in groups.values.values()):
        raise BadInput(f"{section.where} has no 'config_groups', which say what is quantised.")
    read = (groups.sub(name) for name in groups.values)
    return tuple(_group(group) for group in read if group is not None)


def kv_dtype(section: Config) -> str | None:
    """The KV cache type that ``kv_cache_scheme`` declares."""
    scheme = section.sub("kv_cache_scheme")
    if scheme is None:
        return None
    return {8: "fp8", 4: "nvfp4"}.get(scheme.integer("num_bits", 8))


def _group(group: Config) -> Group:
    arguments = group.sub("weights")
    if arguments is None:
        raise BadInput(f"{group.where} has no 'weights', which say how they are stored.")
    inputs = group.sub("input_activations")
    targets = group.texts("targets") or _CLASS_TARGETS
    named = tuple(target for target in targets if target not in _CLASS_TARGETS)
    weights = _weights(arguments, inputs)
    return Group(
        targets=ModuleList(named, f"{group.where}, 'targets'"),
        every_linear=len(named) < len(targets),
        weights=weights,
        encoding=_encoding(weights, arguments),
        activation_bits=inputs.integer("num_bits", 8) if inputs is not None else 16,
    )


def _weights(arguments: Config, inputs: Config | None) -> Weights:
    group = group_size(arguments, "group_size", -1)
    block = arguments.integers("block_structure", least=1)
    default = "block" if block else "group" if group else "tensor"
    return Weights(
        kind=arguments.text("type", "int"),
        bits=arguments.integer("num_bits", 8),
        strategy=arguments.text("strategy", default),
        group=group,
        block=(block[0], block[1]) if block and len(block) == 2 else None,
        symmetric=arguments.flag("symmetric", default=True),
        act_order=arguments.has("actorder") and arguments.raw("actorder") not in (False, "static"),
        static_activations=inputs is not None and not _dynamic(inputs),
    )


def _dynamic(inputs: Config) -> bool:
    return inputs.raw("dynamic") not in (None, False)


def _encoding(weights: Weights, arguments: Config) -> Encoding:
    make = ENCODINGS.get((weights.kind, weights.bits, weights.strategy))
    if make is None:
        name = f"{weights.kind}{weights.bits} {weights.strategy}"
        known = [f"{kind}{bits} {strategy}" for kind, bits, strategy in ENCODINGS]
        raise UnknownName("compressed-tensors weight format", name, known, arguments.where)
    return make(weights)


def _encoding_for(module: str, groups: tuple[Group, ...]) -> Encoding | None:
    for group in groups:
        if group.targets.covers(module):
            return group.encoding
    return next((group.encoding for group in groups if group.every_linear), None)


def _describe(groups: tuple[Group, ...]) -> str:
    kinds = dict.fromkeys(
        f"{group.encoding.name} weights"
        + (f" with {group.activation_bits}-bit activations" if group.activation_bits < 16 else "")
        for group in groups
    )
    return " and ".join(kinds)


def _packed(weights: Weights) -> Encoding:
    return formats.packed_int(
        weights.bits, weights.group, symmetric=weights.symmetric, act_order=weights.act_order
    )


def _fp8_channel(weights: Weights) -> Encoding:
    return formats.fp8_channel(static_activations=weights.static_activations)


def _fp8_tensor(weights: Weights) -> Encoding:
    return formats.fp8_tensor(static_activations=weights.static_activations)


def _fp8_block(weights: Weights) -> Encoding:
    return formats.fp8_block(*(weights.block or (128, 128)))


def _float4_group(weights: Weights) -> Encoding:
    return formats.mxfp4() if weights.group == 32 else formats.nvfp4(weights.group or 16)


ENCODINGS: Final[Mapping[tuple[str, int, str], Callable[[Weights], Encoding]]] = {
    ("float", 8, "tensor"): _fp8_tensor,
    ("float", 8, "channel"): _fp8_channel,
    ("float", 8, "block"): _fp8_block,
    ("float", 8, "group"): lambda _: formats.mxfp8(),
    ("float", 4, "group"): _float4_group,
    ("float", 4, "tensor_group"): _float4_group,
    ("int", 8, "channel"): lambda _: formats.int8_channel(),
    ("int", 8, "tensor"): lambda _: formats.int8_tensor(),
    ("int", 8, "group"): _packed,
    ("int", 4, "group"): _packed,
    ("int", 4, "channel"): _packed,
    ("int", 3, "group"): _packed,
    ("int", 2, "group"): _packed,
}
