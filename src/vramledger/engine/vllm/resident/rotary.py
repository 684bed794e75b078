"""Bytes of the rotary position tables.

Source: vLLM's ``layers/rotary_embedding``: every rank holds each distinct table once, in the
model's type; tables with several position axes are four times as long (``mrope.py``).
"""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.model.dtype import DType
from vramledger.model.model import Model

_AXES_FACTOR: Final = 4


def table_bytes(model: Model, deployment: Deployment) -> int:
    """All tables of a decoder on one rank."""
    total = 0
    for table in dict.fromkeys(model.rotary):
        rows = table.positions * (_AXES_FACTOR if table.sections else 1)
        dtype = DType.FLOAT32 if table.float32 else deployment.dtype.value
        total += rows * table.dim * dtype.nbytes
    return total
