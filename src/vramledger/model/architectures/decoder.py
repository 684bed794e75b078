"""A decoder put together from its layers: tensors in checkpoint order, caches and shape."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

from vramledger.frozen import frozen
from vramledger.model.architectures.common import stored_dtype
from vramledger.model.architectures.tops import read_top
from vramledger.model.blocks.moe import Moe
from vramledger.model.cache import CacheLayer, CacheSpec
from vramledger.model.config import Config
from vramledger.model.dtype import DType
from vramledger.model.model import Experts, Model, ModelKind, TextShape
from vramledger.model.parts import embedding, head, norm
from vramledger.model.tensor import Role, Tensor


class Mixer(Protocol):
    """The part of a layer that looks at other tokens: attention or a recurrent mixer."""

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]: ...

    def cache(self) -> tuple[CacheSpec, ...]: ...


class FeedForward(Protocol):
    """The part of a layer that looks at one token: a dense MLP or a mixture of experts."""

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]: ...


@frozen
class Norms:
    """The norms of a layer over the hidden width; `bias` for layer norms that have one.

    `class_dtype` is the element type in which the class keeps them, None for the model's own.
    """

    names: tuple[str, ...] = ("input_layernorm", "post_attention_layernorm")
    bias: bool = False
    class_dtype: DType | None = None

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        return [
            tensor
            for name in self.names
            for tensor in norm(
                f"{prefix}{name}",
                hidden,
                layer=layer,
                bias=self.bias,
                class_dtype=self.class_dtype,
            )
        ]


PRE_NORMS: Final = Norms()


@frozen
class Layer:
    """One decoder layer; a part it lacks is None. `others` are parts beyond the usual three."""

    mixer: Mixer | None
    feed_forward: FeedForward | None
    norms: Norms = PRE_NORMS
    others: tuple[FeedForward, ...] = ()

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        found: list[Tensor] = []
        for part in (self.mixer, self.feed_forward, self.norms, *self.others):
            if part is not None:
                found += part.tensors(prefix, layer, hidden)
        return found

    def caches(self) -> tuple[CacheSpec, ...]:
        return self.mixer.cache() if self.mixer else ()


@frozen
class Frame:
    """What surrounds the layers, by the names of the checkpoint."""

    embed: str = "model.embed_tokens"
    layer: str = "model.layers.{}."
    norm: str = "model.norm"  # empty where the class has none
    norm_bias: bool = False
    norm_class_dtype: DType | None = None
    head: str = "lm_head"  # empty where the class has none
    head_bias: bool = False
    embed_width: int = 0  # width of the token embedding, 0 for the hidden width
    extra: tuple[Tensor, ...] = ()  # position tables, embedding norms, width projections

    def before(self, text: TextShape) -> list[Tensor]:
        return [embedding(self.embed, text.vocab, self.embed_width or text.hidden), *self.extra]

    def after(self, text: TextShape, *, tied: bool) -> list[Tensor]:
        found: list[Tensor] = []
        if self.norm:
            found += norm(
                self.norm, text.hidden, bias=self.norm_bias, class_dtype=self.norm_class_dtype
            )
        if not self.head:
            return found
        output = head(self.head, text.vocab, self.embed_width or text.hidden, bias=self.head_bias)
        return found + (output[1:] if tied else output)


PLAIN_FRAME: Final = Frame()


@frozen
class Decoder:
    """Everything that makes a `Model` of one stack of layers; an encoder has no caches."""

    architecture: str
    text: TextShape
    layers: tuple[Layer, ...]
    tied: bool
    frame: Frame = PLAIN_FRAME
    extra_tensors: tuple[Tensor, ...] = ()
    sparse_topk: int = 0
    kind: ModelKind = ModelKind.DECODER
    notes: tuple[str, ...] = ()

    def model(self, config: Config, model_id: str) -> Model:
        """The model, its tensors in the order of checkpoints.

        Where the configuration names the class without a language head, or the one that scores, the
        model is that class.
        """
        top = read_top(config, self.architecture, self.text.hidden)
        text = replace(self.text, experts=self.text.experts or summed_experts(self.layers))
        tensors = self.frame.before(text)
        for i, layer in enumerate(self.layers):
            tensors += layer.tensors(self.frame.layer.format(i), i, text.hidden)
        frame = self.frame if top.speaks else replace(self.frame, head="")
        tensors += [*frame.after(text, tied=self.tied), *top.tensors]
        return Model(
            id=model_id,
            architecture=top.architecture,
            model_type=config.text("model_type", ""),
            kind=self.kind,
            dtype=stored_dtype(config),
            text=text,
            tensors=tuple(tensors),
            cache_layers=tuple(
                CacheLayer(i, spec)
                for i, layer in enumerate(self.layers)
                if self.kind is not ModelKind.ENCODER
                for spec in layer.caches()
            ),
            tied_embeddings=self.tied,
            extra_tensors=self.extra_tensors,
            sparse_topk=self.sparse_topk,
            notes=self.notes,
        )


def summed_experts(layers: Sequence[Layer]) -> Experts | None:
    """The mixture of experts that the layers carry, None where all are dense."""
    blocks = [layer.feed_forward for layer in layers if isinstance(layer.feed_forward, Moe)]
    if not blocks:
        return None
    first = blocks[0]
    return Experts(
        count=first.experts,
        per_token=first.per_token,
        intermediate=first.intermediate,
        shared_intermediate=first.shared_intermediate,
        layers=len(blocks),
    )


def as_draft(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Tensors of layers that only speculative decoding uses."""
    return tuple(replace(tensor, role=Role.DRAFT) for tensor in tensors)
