"""Bytes that splitting a model sends between GPUs, per token of one forward pass."""

from vramledger.engine.setting import Layout
from vramledger.model.model import TextShape


def bytes_per_token(text: TextShape, layout: Layout, element_bytes: int = 2) -> float:
    """Bytes one GPU sends per token.

    Tensor parallelism makes two all-reduces a layer and one after the embedding, each moving
    ``2 (p-1)/p`` of the hidden state per GPU in a ring; pipeline parallelism sends hidden state and
    residual once per stage boundary.
    """
    hidden = text.hidden * element_bytes
    sent = 0.0
    if layout.tp > 1:
        all_reduces = 2 * text.layers / layout.pp + 1
        sent += all_reduces * 2 * (layout.tp - 1) / layout.tp * hidden
    if layout.pp > 1:
        sent += 2 * hidden * (layout.pp - 1) / layout.pp
    return sent
