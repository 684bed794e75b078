"""``quant_method: awq``: INT4 weights of the decoder layers in groups of inputs, with zeros."""

from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList
from vramledger.model.quantization.scheme import Scheme, coverable, left_out, module_of
from vramledger.model.quantization.section import group_size, names
from vramledger.model.tensor import Encoding, Tensor


def read(section: Config, _config: Config) -> Scheme:
    """The scheme of a section in AutoAWQ's own or the hub's spelling."""
    bits = section.integer("bits", section.integer("w_bit", 4))
    group = group_size(section, "group_size", group_size(section, "q_group_size", 128))
    zeros = section.flag("zero_point", default=True)
    listed = names(section, "modules_to_not_convert")
    skipped = ModuleList(listed, section.where)
    encoding = formats.awq(bits, group, zeros=zeros)

    def encode(tensor: Tensor) -> Encoding | None:
        inside = tensor.layer is not None and coverable(tensor)
        return encoding if inside and not skipped.covers(module_of(tensor)) else None

    return Scheme(
        Quantization(
            method="awq",
            detail=left_out(f"AWQ INT{bits} weights in groups of {group} inputs", listed),
            weight_bits=float(bits),
            activation_bits=16,
            group_size=group,
        ),
        encode,
    )
