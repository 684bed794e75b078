"""A language model with towers before it: the text part keeps its own architecture.

The text part is built from ``text_config`` as that class would be on its own, then named as the
outer class stores it; towers and projectors come beside it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from vramledger.frozen import frozen
from vramledger.model.architectures import build as build_any
from vramledger.model.architectures.common import stored_dtype
from vramledger.model.config import Config
from vramledger.model.model import Model, TowerInput
from vramledger.model.tensor import Tensor

TieRule = Callable[[Config, Config], bool]  # of the outer configuration and the text section


def tied_outside(*, default: bool) -> TieRule:
    """Only the outer ``tie_word_embeddings`` counts."""
    return lambda outer, _inner: outer.flag("tie_word_embeddings", default=default)


def tied_either(outer: Config, inner: Config) -> bool:
    """Either flag ties, and both default to no."""
    return any(part.flag("tie_word_embeddings", default=False) for part in (outer, inner))


def tied_inside(_outer: Config, inner: Config) -> bool:
    """Only the text part's flag counts."""
    return inner.flag("tie_word_embeddings", default=False)


def never_tied(_outer: Config, _inner: Config) -> bool:
    """The class stores a head whatever the flags say."""
    return False


def tied_as_said(outer: Config, inner: Config) -> bool:
    """The outer flag where it is given, else the text part's, else no."""
    inside = inner.flag("tie_word_embeddings", default=False)
    return outer.flag("tie_word_embeddings", default=inside)


@frozen
class TextPart:
    """How an outer class holds its language model."""

    model_type: str  # where the text section does not say
    tie: TieRule
    body: str = "model.language_model."  # what stands for "model."
    head: str = "lm_head"
    assumed: Mapping[str, int] | None = None  # what the class adds to the text section


def inner_text(model_type: str, tie: TieRule, assumed: Mapping[str, int] | None = None) -> TextPart:
    """A language model under the names of LLaVA's first checkpoints."""
    return TextPart(model_type, tie, "language_model.model.", "language_model.lm_head", assumed)


@frozen
class Tower:
    """Weights of an encoder with its projector, and the largest item it takes."""

    tensors: tuple[Tensor, ...]
    largest: TowerInput


def read_text(config: Config, part: TextPart, model_id: str) -> Model:
    """The language model by itself, under the names it has alone.

    Raises:
        UnknownName: it is of no known ``model_type``.
        BadInput: a value is missing or out of range.
    """
    return build_any(text_config(config, part), model_id)


def compose(
    config: Config, text: Model, *, architecture: str, part: TextPart, towers: Iterable[Tower]
) -> Model:
    """The whole model, around the `text` that `read_text` gave."""
    beside = tuple(towers)
    own_dtype = config.has("dtype") or config.has("torch_dtype")
    return replace(
        text,
        architecture=architecture,
        model_type=config.text("model_type"),
        dtype=stored_dtype(config) if own_dtype else text.dtype,
        tensors=(
            *(tensor for tower in beside for tensor in tower.tensors),
            *(_renamed(tensor, part) for tensor in text.tensors),
        ),
        extra_tensors=tuple(_renamed(tensor, part) for tensor in text.extra_tensors),
        towers=tuple(tower.largest for tower in beside),
    )


def text_config(config: Config, part: TextPart) -> Config:
    """The text section, or the outer one where a class keeps its keys flat; tying resolved."""
    section = config.sub("text_config")
    inner = config if section is None else section
    given = inner.values.get("model_type")
    model_type = given if section is not None and given else part.model_type
    assumed = {k: v for k, v in (part.assumed or {}).items() if k not in inner.values}
    tied = part.tie(config, inner)
    text = inner.changed(**assumed, model_type=model_type, tie_word_embeddings=tied)
    text.nested = section is not None  # a flat file must state its dimensions
    return text


def vision_config(
    config: Config, key: str = "vision_config", assumed: Mapping[str, int] | None = None
) -> Config:
    """The section of a tower; an absent one leaves every value to the class.

    `assumed` are values that the outer class gives to a section that is absent.
    """
    return config.sub(key) or Config(dict(assumed or {}), f"{config.where}, {key!r}", nested=True)


def _renamed(tensor: Tensor, part: TextPart) -> Tensor:
    name = tensor.name
    if name.startswith("model."):
        return replace(tensor, name=part.body + name.removeprefix("model."))
    if name.startswith("lm_head."):
        return replace(tensor, name=part.head + name.removeprefix("lm_head"))
    return tensor
