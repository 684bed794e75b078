"""Which checkpoint and flag serve a model at a precision of its weights."""

import re
from collections.abc import Mapping
from typing import Final

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.frozen import frozen
from vramledger.model import catalogue
from vramledger.model.load import load_model
from vramledger.model.model import Model
from vramledger.model.quantization.online import SCHEMES

AS_STORED: Final = "as-stored"
# How checkpoints of a precision are named, after the name of the model they were made from.
_SUFFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    "awq": ("awq",),
    "gptq": ("gptq",),
    "int8": ("w8a8", "int8"),
    "int4": ("w4a16", "int4"),
    "nvfp4": ("nvfp4",),
    "mxfp4": ("mxfp4",),
    "bitsandbytes": ("bnb",),
}
_WORDS: Final = frozenset(
    {
        "4bit",
        "8bit",
        "dynamic",
        "fp8",
        "quantized",
        *(w for words in _SUFFIXES.values() for w in words),
    }
)
_SEPARATOR: Final = re.compile(r"[-_.]")


@frozen
class Served:
    """What is loaded: a reference with its model, and the ``--quantization`` to load it with."""

    reference: str
    model: Model
    quantization: str | None = None

    @property
    def note(self) -> str:
        return f"served from {self.reference}"


def served(reference: str, model: Model, weights: str, where: str) -> Served:
    """The checkpoint and flag of one precision.

    A precision that the engine makes while loading takes the model's own checkpoint; another one
    needs a checkpoint of its own, which is looked for in the catalogue by name.

    Raises:
        UnknownName: no such precision.
        BadInput: the checkpoint is quantised already, or none of that precision is known.
        CannotKnow: how the checkpoint stores its weights is not known.
    """
    if weights == AS_STORED:
        return Served(reference, model)
    known = (AS_STORED, *sorted({*_SUFFIXES, *SCHEMES}))
    if weights not in known:
        raise UnknownName("precision", weights, known, where, f"Known are {', '.join(known)}.")
    if model.weights_unknown is not None:
        raise CannotKnow(f"{where}: {reference} as {weights}: {model.weights_unknown}")
    if model.quantization is not None:
        raise BadInput(
            f"{where}: {reference} is stored as {model.quantization.method} already, so {weights} "
            "cannot be made of it; ask for as-stored, or name the unquantised model."
        )
    found = _sibling(reference, weights)
    if weights in SCHEMES and found is None:
        return Served(reference, model, weights)
    if found is None:
        raise BadInput(
            f"{where}: {weights} weights are a checkpoint of their own, and the catalogue has none "
            f"made from {reference}; name that checkpoint as the model, as a directory or "
            "hf:org/name."
        )
    return Served(found, load_model(found))


def _sibling(reference: str, weights: str) -> str | None:
    """The catalogue's checkpoint of that precision made from the model, its own organisation's first."""
    owner, _, base = reference.casefold().rpartition("/")
    found = [
        name
        for name in catalogue.ids()
        if (words := _made_from(name, base)) and words & set(_SUFFIXES.get(weights, ()))
    ]
    return min(
        found, key=lambda name: (not name.casefold().startswith(f"{owner}/"), name), default=None
    )


def _made_from(name: str, base: str) -> frozenset[str]:
    """The words of precision that a checkpoint's name adds to the model's; empty for other models."""
    own = name.casefold().rpartition("/")[2]
    for known in (base, f"meta-{base}"):
        if own.startswith(known):
            words = frozenset(_SEPARATOR.split(own[len(known) :])) - {""}
            return words if words <= _WORDS else frozenset()
    return frozenset()
