"""What a quantisation section means: which tensors it re-encodes, and how."""

from collections.abc import Callable
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.model import Quantization
from vramledger.model.tensor import Encoding, Role, Tensor

# Kept in the model's own type by every format unless a section says otherwise.
ALWAYS_PLAIN: Final = frozenset({Role.EMBEDDING, Role.HEAD, Role.ROUTER, Role.NORM, Role.BUFFER})
# Towers stay whole in the formats that quantise a language model, listed or not.
TOWERS: Final = frozenset({Role.VISION, Role.AUDIO, Role.PROJECTOR})
# Linear modules that stay plain although no section lists them, because classes build them without
# a scheme (``quant_config=None`` in vLLM): the joint projection and the borrowed head and embedding
# of MTP layers, scalar gates, compressors and residual projections.
_PLAIN_MODULES: Final = (
    "eh_proj",
    "shared_head.head",
    "embed_tokens",
    "gate",
    "router",
    "shared_expert_gate",
    "indexer.weights_proj",
    "compressor.wkv",
    "compressor.wgate",
    "mlp_res_proj",
    "self_attention_res_proj",
    "output_attn_res_proj",
    "routed_expert_down_proj",
    "routed_expert_up_proj",
)


@frozen
class Scheme:
    """A section as read. `encode` gives a tensor's encoding, None where it stays as it is."""

    record: Quantization
    encode: Callable[[Tensor], Encoding | None]


def coverable(tensor: Tensor, *, towers: bool = False) -> bool:
    """Whether a format quantises such a tensor at all: a linear weight matrix, no head or router.

    `towers` says that it covers vision and audio towers too.
    """
    if not tensor.linear or tensor.encoding is not None or len(tensor.shape) != 2:
        return False
    if tensor.role in TOWERS and not towers:
        return False
    module = module_of(tensor)
    return tensor.role not in ALWAYS_PLAIN and not any(
        module == name or module.endswith(f".{name}") for name in _PLAIN_MODULES
    )


def module_of(tensor: Tensor) -> str:
    """The module's name: the tensor's without its last component, the first expert for all."""
    return tensor.name.removesuffix(".weight").replace("{e}", "0")


def left_out(record: str, names: tuple[str, ...]) -> str:
    """The sentence of a scheme with what it leaves out, for people."""
    if not names:
        return f"{record}; embeddings, head, norms and routers stay as they are."
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"{record}; left out: {shown}; embeddings, head, norms and routers stay as they are."
