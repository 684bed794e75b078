"""``quant_method: fbgemm_fp8``: e4m3 weights with a float32 scale an output, dynamic activations."""

from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList
from vramledger.model.quantization.scheme import Scheme, coverable, left_out, module_of
from vramledger.model.quantization.section import names
from vramledger.model.tensor import Encoding, Tensor


def read(section: Config, _config: Config) -> Scheme:
    """The scheme of a section; only its list of exceptions varies."""
    listed = names(section, "modules_to_not_convert")
    skipped = ModuleList(listed, section.where)
    encoding = formats.fp8_channel(scale_bits=32)

    def encode(tensor: Tensor) -> Encoding | None:
        covered = coverable(tensor) and not skipped.covers(module_of(tensor))
        return encoding if covered else None

    return Scheme(
        Quantization(
            method="fbgemm_fp8",
            detail=left_out("FP8 weights, one scale an output", listed),
            weight_bits=8.0,
            activation_bits=8,
        ),
        encode,
    )
