"""Architectures: one module a family of classes, found by ``model_type``.

A module offers ``build(config, model_id) -> Model``. Adding an architecture is one module and
one row here.
"""

from importlib import import_module
from typing import Final, Protocol, cast

from vramledger.errors import UnknownName
from vramledger.model.config import Config
from vramledger.model.model import Model

MODULES: Final = {
    "llama": "llama",
}


class Architecture(Protocol):
    """What a module of this package offers."""

    def build(self, config: Config, model_id: str) -> Model: ...


def build(config: Config, model_id: str) -> Model:
    """The model that a configuration describes, with weights as the class builds them.

    Raises:
        UnknownName: the ``model_type`` is none of ours.
        BadInput: a value is missing or out of range.
    """
    model_type = config.text("model_type")
    module = MODULES.get(model_type)
    if module is None:
        raise UnknownName("model_type", model_type, MODULES, f"{config.where}, 'model_type'")
    loaded = import_module(f"{__name__}.{module}")
    return cast("Architecture", loaded).build(config, model_id)
