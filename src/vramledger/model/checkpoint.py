"""What was found behind a reference, and the model it makes."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput, UnknownName
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.model.architectures import build
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.quantization import quantize

if TYPE_CHECKING:
    from vramledger.model.files.stored import StoredWeights

_SAYS_QUANTISED: Final = r"(fp8|fp4|awq|gptq|int[48]|w[48]a(8|16)|[48]bit)\b"


@frozen
class Checkpoint:
    """A configuration, weight headers, or both; at least one of them is there."""

    id: str
    config: Config | None
    weights: "StoredWeights | None" = None
    notes: tuple[str, ...] = ()


def assemble(checkpoint: Checkpoint) -> Model:
    """The model of a checkpoint: from its configuration, made exact by its headers.

    Without a usable configuration the headers still give exact weights; what the network
    remembers is then refused by name (`Model.cache_unknown`).

    Raises:
        UnknownName: the configuration's architecture is unknown and there are no headers.
        BadInput: the configuration or its quantisation section is not usable.
    """
    config, weights = checkpoint.config, checkpoint.weights
    if config is None:
        return _weights_only(checkpoint, "", "there is no config.json beside the weights")
    try:
        model = build(config, checkpoint.id)
    except UnknownName as error:
        if weights is None:
            raise
        return _weights_only(checkpoint, config.text("model_type", ""), str(error).rstrip("."))
    model = _quantized(model, config, weights)
    if weights is not None:
        from vramledger.model.headers import apply_headers

        model = apply_headers(model, weights)
    model = replace(model, notes=model.notes + checkpoint.notes)
    if weights is None and model.quantization is None and _says_quantised(checkpoint.id):
        return _of_unknown_weights(model)
    return model


def _of_unknown_weights(model: Model) -> Model:
    """The model whose name promises fewer bits than its configuration: the bytes are a bound."""
    sentence = (
        "The name says that the weights are quantised, but the configuration does not say how; "
        f"their bytes are those of plain {model.dtype}, an upper bound."
    )
    return replace(model, weights_unknown=sentence, weights_basis=Basis.ASSUMED)


def _says_quantised(name: str) -> bool:
    return re.search(_SAYS_QUANTISED, name, re.IGNORECASE) is not None


def _quantized(model: Model, config: Config, weights: "StoredWeights | None") -> Model:
    """The model as its quantisation section stores it; headers stand in for an unknown method."""
    try:
        return quantize(model, config)
    except UnknownName as error:
        if weights is None:
            raise
        return replace(model, notes=(*model.notes, f"{error} Bytes are those of the files."))


def _weights_only(checkpoint: Checkpoint, model_type: str, reason: str) -> Model:
    if checkpoint.weights is None:
        raise BadInput(f"{checkpoint.id} has neither a config.json nor weight headers.")
    from vramledger.model.headers import from_headers

    refusal = f"What {checkpoint.id} keeps in its cache cannot be told: {reason}."
    model = from_headers(checkpoint.weights, checkpoint.id, model_type, refusal)
    return replace(model, notes=model.notes + checkpoint.notes)
