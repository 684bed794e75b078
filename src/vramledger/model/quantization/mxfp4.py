"""``quant_method: mxfp4`` (gpt-oss): the routed experts only, four bits and a scale for 32 inputs."""

from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList
from vramledger.model.quantization.scheme import Scheme, coverable, module_of
from vramledger.model.quantization.section import names
from vramledger.model.tensor import Encoding, Role, Tensor


def read(section: Config, _config: Config) -> Scheme:
    """The scheme of a section; its list of exceptions is honoured inside the experts too."""
    skipped = ModuleList(names(section, "modules_to_not_convert"), section.where)
    encoding = formats.mxfp4()

    def encode(tensor: Tensor) -> Encoding | None:
        covered = tensor.role is Role.EXPERT and coverable(tensor)
        return encoding if covered and not skipped.covers(module_of(tensor)) else None

    return Scheme(record(), encode)


def record() -> Quantization:
    """What MXFP4 experts shrink."""
    return Quantization(
        method="mxfp4",
        detail="MXFP4 routed experts, one scale for 32 inputs; everything else stays as it is.",
        weight_bits=4.25,
        activation_bits=16,
        group_size=32,
    )
