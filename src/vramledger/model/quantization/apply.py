"""Re-encode the tensors of a model by a scheme."""

from dataclasses import replace

from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.quantization.readers import reader_for, scheme_for_online
from vramledger.model.quantization.scheme import Scheme
from vramledger.model.quantization.section import find_section, method_of
from vramledger.model.tensor import Tensor


def quantize(model: Model, config: Config) -> Model:
    """The model with its weights stored as the configuration's quantisation section says.

    A model without such a section comes back as it is.

    Raises:
        UnknownName: the method is none of ours.
        BadInput: a value of the section is missing or out of range.
    """
    section = find_section(config)
    if section is None:
        return model
    read = reader_for(method_of(section), f"{section.where}, 'quant_method'")
    return encoded(model, read(section, config))


def requantize(model: Model, method: str) -> Model:
    """The model as an engine holds it after quantising a plain checkpoint while loading.

    Raises:
        UnknownName: no engine quantises by that method while loading.
    """
    return encoded(model, scheme_for_online(method))


def encoded(model: Model, scheme: Scheme) -> Model:
    """The model with every tensor the scheme covers in its new encoding."""
    return replace(
        model,
        tensors=_encode_all(model.tensors, scheme),
        extra_tensors=_encode_all(model.extra_tensors, scheme),
        quantization=scheme.record,
    )


def _encode_all(tensors: tuple[Tensor, ...], scheme: Scheme) -> tuple[Tensor, ...]:
    return tuple(_encode(tensor, scheme) for tensor in tensors)


def _encode(tensor: Tensor, scheme: Scheme) -> Tensor:
    encoding = scheme.encode(tensor)
    return tensor if encoding is None else replace(tensor, encoding=encoding)
