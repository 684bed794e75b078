"""``quant_method: bitsandbytes``: 4 or 8 bits, stored quantised or made while loading."""

from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList
from vramledger.model.quantization.scheme import Scheme, coverable, left_out, module_of
from vramledger.model.quantization.section import names
from vramledger.model.tensor import Encoding, Tensor


def read(section: Config, _config: Config) -> Scheme:
    """The scheme of a section; 8 bits when it asks for them, else 4, double-quantised if it says."""
    eight = section.flag("load_in_8bit", default=False)
    double = section.flag("bnb_4bit_use_double_quant", default=False)
    listed = names(section, "llm_int8_skip_modules")
    return scheme(eight=eight, double=double, listed=listed, where=section.where)


def scheme(*, eight: bool, double: bool, listed: tuple[str, ...], where: str) -> Scheme:
    """The scheme of these choices; `listed` modules stay as they are."""
    encoding: Encoding = formats.bnb8() if eight else formats.bnb4(double=double)
    skipped = ModuleList(listed, where)

    def encode(tensor: Tensor) -> Encoding | None:
        covered = coverable(tensor, towers=True) and not skipped.covers(module_of(tensor))
        return encoding if covered else None

    kind = "8-bit" if eight else "4-bit, scales quantised again" if double else "4-bit"
    return Scheme(
        Quantization(
            method="bitsandbytes",
            detail=left_out(f"bitsandbytes {kind} weights in blocks of 64", listed)
            if not eight
            else left_out("bitsandbytes 8-bit weights, one scale an output", listed),
            weight_bits=8.0 if eight else 4.127 if double else 4.5,
            activation_bits=8 if eight else 16,
            group_size=0 if eight else 64,
        ),
        encode,
    )
