"""Helpers of these tests: a model from keys, and its tensors by name."""

from typing import Any

from vramledger.model.architectures import build
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.tensor import Tensor


def model_of(model_type: str, **keys: Any) -> Model:
    return build(Config({"model_type": model_type, **keys}, "config.json"), model_type)


def tensors_named(model: Model, ending: str) -> list[Tensor]:
    return [tensor for tensor in model.tensors if tensor.name.endswith(ending)]


def tensor_named(model: Model, ending: str) -> Tensor:
    found = tensors_named(model, ending)
    assert len(found) == 1, [tensor.name for tensor in found]
    return found[0]
