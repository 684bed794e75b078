"""``quant_method: fp8``: e4m3 weights with a scale a matrix or a block.

DeepSeek-V4 keeps this section for its attention and shared experts while routed experts are FP4:
``expert_dtype`` (MXFP4) or ``moe_quant_algo`` (NVFP4) say so.
"""

from vramledger.errors import BadInput
from vramledger.model.config import Config
from vramledger.model.model import Quantization
from vramledger.model.quantization import formats
from vramledger.model.quantization.patterns import ModuleList
from vramledger.model.quantization.scheme import Scheme, coverable, left_out, module_of
from vramledger.model.quantization.section import names
from vramledger.model.tensor import Encoding, Role, Tensor

_POWER_OF_TWO_SCALES = "ue8m0"


def read(section: Config, config: Config) -> Scheme:
    """The scheme of a section; block shape, activation scheme and exceptions as it says."""
    block = block_shape(section)
    static = section.text("activation_scheme", "dynamic") == "static"
    scale_bits = 8 if section.text("scale_fmt", "") == _POWER_OF_TWO_SCALES else 32
    matrix: Encoding = (
        formats.fp8_block(*block, scale_bits=scale_bits)
        if block
        else formats.fp8_tensor(static_activations=static)
    )
    experts = _expert_encoding(section, config) or matrix
    listed = names(section, "modules_to_not_convert", "ignored_layers")
    skipped = ModuleList(listed, section.where)

    def encode(tensor: Tensor) -> Encoding | None:
        if not coverable(tensor) or skipped.covers(module_of(tensor)):
            return None
        return experts if tensor.role is Role.EXPERT else matrix

    what = f"FP8 weights, {_granularity(block)}"
    if experts is not matrix:
        what += f", routed experts {experts.name}"
    return Scheme(
        Quantization(
            method="fp8",
            detail=left_out(what, listed),
            weight_bits=8.0 if experts is matrix else 4.0,
            activation_bits=8,
            kv_dtype=_kv_dtype(section),
            block=block,
        ),
        encode,
    )


def block_shape(section: Config) -> tuple[int, int] | None:
    """``weight_block_size`` as ``(out, in)``, None where scales are per tensor.

    Raises:
        BadInput: it is not two whole numbers.
    """
    sizes = section.integers("weight_block_size", least=1)
    if sizes is None:
        return None
    if len(sizes) != 2:
        raise BadInput(
            f"{section.where}: 'weight_block_size' has {len(sizes)} numbers; "
            "it must be two, outputs and inputs."
        )
    return sizes[0], sizes[1]


def _granularity(block: tuple[int, int] | None) -> str:
    return f"one scale a {block[0]}x{block[1]} block" if block else "one scale a matrix"


def _expert_encoding(section: Config, config: Config) -> Encoding | None:
    if section.text("moe_quant_algo", "").upper() == "NVFP4":
        return formats.nvfp4(section.integer("group_size", 16))
    if config.text("expert_dtype", "") == "fp4":
        return formats.mxfp4()
    return None


def _kv_dtype(section: Config) -> str | None:
    scheme = section.raw("kv_cache_scheme")
    return "fp8" if scheme else None
