"""What sits on the layers when a decoder embeds or scores instead of speaking."""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor

_SPEAKING: Final = ("ForCausalLM", "LMHeadModel")
_BARE: Final = "Model"
_SCORING: Final = "ForSequenceClassification"


@frozen
class Top:
    """The class that a configuration names, whether it has a language head, and what else it has."""

    architecture: str
    speaks: bool = True
    tensors: tuple[Tensor, ...] = ()


def read_top(config: Config, architecture: str, hidden: int) -> Top:
    """The top of a decoder: the speaking class, or its bare or scoring sibling where named.

    Classes of other names leave the speaking class as it is: forks rename it freely.
    """
    names = () if config.nested else config.texts("architectures") or ()
    stem = next((architecture.removesuffix(s) for s in _SPEAKING if architecture.endswith(s)), "")
    if not names or not stem:
        return Top(architecture)
    if names[0] == stem + _BARE:
        return Top(names[0], speaks=False)
    if names[0] == stem + _SCORING:
        score = linear("score", label_count(config), hidden, Role.OTHER, Shard.REPLICATED)
        return Top(names[0], speaks=False, tensors=tuple(score))
    return Top(architecture)


def label_count(config: Config) -> int:
    """Classes of a classifier: ``num_labels``, the named labels, or two."""
    labels = config.sub("id2label")
    return config.integer("num_labels", len(labels.values) if labels and labels.values else 2)
