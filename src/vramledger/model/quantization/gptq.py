"""``quant_method: gptq`` (and ``auto-round`` packed the same way): INT weights of decoder layers."""

import re
from collections.abc import Callable

from vramledger.errors import BadInput, CannotKnow
from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList
from vramledger.model.quantization.scheme import Scheme, coverable, left_out, module_of
from vramledger.model.quantization.section import group_size, method_of, names
from vramledger.model.tensor import Encoding, Role, Tensor

_BITS = (2, 3, 4, 8)


def read(section: Config, _config: Config) -> Scheme:
    """The scheme of a section: bits, group, act-order, modules chosen or left out.

    Raises:
        BadInput: bits that the format does not have.
        CannotKnow: per-module overrides (``extra_config``) whose sizes only headers tell.
    """
    if section.has("extra_config") and section.raw("extra_config"):
        raise CannotKnow(
            f"{section.where}: 'extra_config' gives single modules other bits; only the headers of "
            "the weight files tell their sizes, so point at a directory that holds them."
        )
    bits = section.integer("bits", 4)
    if bits not in _BITS:
        raise BadInput(f"{section.where}: 'bits' is {bits}; GPTQ stores 2, 3, 4 or 8 bits.")
    group = group_size(section, "group_size", 128)
    act_order = section.flag("desc_act", default=False)
    symmetric = section.flag("sym", default=True)
    encoding = formats.gptq(bits, group, symmetric=symmetric, act_order=act_order)
    listed = names(section, "modules_to_not_convert")
    chosen = _selection(section, listed)

    def encode(tensor: Tensor) -> Encoding | None:
        return encoding if chosen(tensor) else None

    order = ", columns ordered by activation" if act_order else ""
    return Scheme(
        Quantization(
            method="gptq",
            detail=left_out(
                f"{method_of(section).upper()} INT{bits} weights in groups of {group} inputs{order}",
                listed,
            ),
            weight_bits=float(bits),
            activation_bits=16,
            group_size=group,
            act_order=act_order,
        ),
        encode,
    )


def _selection(section: Config, listed: tuple[str, ...]) -> Callable[[Tensor], bool]:
    skipped = ModuleList((*listed, *_negative(section)), section.where)
    chosen = _chosen_modules(section)
    with_head = section.flag("lm_head", default=False)

    def selects(tensor: Tensor) -> bool:
        if tensor.role is Role.HEAD:
            return with_head and tensor.linear
        if tensor.layer is None or not coverable(tensor):
            return False
        module = module_of(tensor)
        return not skipped.covers(module) and (
            not chosen or any(module.endswith(f".{name}") for name in chosen)
        )

    return selects


def _negative(section: Config) -> tuple[str, ...]:
    """GPTQModel's ``dynamic`` rules that leave modules out: ``-:`` and a regular expression."""
    rules = section.sub("dynamic")
    if rules is None:
        return ()
    positive = [key for key in rules.values if not key.startswith("-:")]
    if positive:
        raise CannotKnow(
            f"{section.where}: 'dynamic' gives {positive[0]!r} other bits; only the headers of the "
            "weight files tell the sizes, so point at a directory that holds them."
        )
    return tuple(f"re:{re.sub('^-:', '', key)}" for key in rules.values)


def _chosen_modules(section: Config) -> tuple[str, ...]:
    blocks = section.items("modules_in_block_to_quantize") or ()
    return tuple(
        str(name) for block in blocks for name in (block if isinstance(block, list) else [block])
    )
