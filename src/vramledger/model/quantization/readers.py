"""The table of quantisation methods: name in a section -> the module that reads it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final, Protocol, cast

from vramledger.errors import UnknownName
from vramledger.model.config import Config
from vramledger.model.quantization.scheme import Scheme

# A module offers `read(section, config) -> Scheme`; `config` is the whole configuration.
METHODS: Final[Mapping[str, str]] = {
    "fp8": "fp8",
    "fbgemm_fp8": "fbgemm_fp8",
    "awq": "awq",
    "awq_marlin": "awq",
    "gptq": "gptq",
    "gptq_marlin": "gptq",
    "auto-round": "gptq",
    "compressed-tensors": "compressed_tensors",
    "compressed_tensors": "compressed_tensors",
    "mxfp4": "mxfp4",
    "gpt_oss_mxfp4": "mxfp4",
    "modelopt": "modelopt",
    "modelopt_fp4": "modelopt",
    "modelopt_mxfp8": "modelopt",
    "modelopt_mixed": "modelopt",
    "bitsandbytes": "bitsandbytes",
    "quark": "quark",
}

# What engines quantise to while loading a plain checkpoint; a row is `scheme() -> Scheme`.
ONLINE_METHODS: Final = (
    "fp8",
    "fp8_per_tensor",
    "fp8_per_block",
    "fp8_per_channel",
    "ptpc_fp8",
    "fbgemm_fp8",
    "bitsandbytes",
    "experts_int8",
    "int8_per_channel_weight_only",
    "mxfp8",
    "nvfp4_per_token",
)


class _Reader(Protocol):
    def read(self, section: Config, config: Config) -> Scheme: ...


def reader_for(method: str, where: str) -> Callable[[Config, Config], Scheme]:
    """The reader of a method's section.

    Raises:
        UnknownName: the method is none of ours.
    """
    module = METHODS.get(method)
    if module is None:
        raise UnknownName(
            "quantization method",
            method,
            METHODS,
            where,
            hint="Weights in a format we do not know can be read from file headers.",
        )
    return cast("_Reader", import_module(f"{__package__}.{module}")).read


def scheme_for_online(method: str) -> Scheme:
    """The scheme of a method that engines apply while loading.

    Raises:
        UnknownName: there is no such method.
    """
    from vramledger.model.quantization.online import SCHEMES

    make = SCHEMES.get(method)
    if make is None:
        raise UnknownName("method of quantising while loading", method, ONLINE_METHODS)
    return make()
