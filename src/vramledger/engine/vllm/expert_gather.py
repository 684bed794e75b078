"""Tokens of every data-parallel rank, gathered on each before its experts run.

Sources: the fused expert layer's ``naive_multicast`` (0.8 on) and the managers ``naive`` and
``allgather_reducescatter`` of vllm/distributed/device_communicators/all2all.py (0.9 on). Other
ways of exchange move each token to its experts only and keep buffers of their own.
"""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment

_GATHERING: Final = frozenset({"", "naive", "allgather_reducescatter"})  # the first is the default
_COPIES: Final = 2  # the gathered hidden states, and the experts' output before it is divided again


def gathering_ranks(deployment: Deployment) -> int:
    """Data-parallel ranks whose tokens meet on each rank, 1 where none are gathered."""
    layout = deployment.layout
    if layout.dp == 1 or deployment.model.text.experts is None or not deployment.rules.v1:
        return 1
    return layout.dp if _backend(deployment) in _GATHERING else 1


def gather_bytes(deployment: Deployment) -> int:
    """Bytes of what is gathered: hidden states twice and router logits, 0 where nothing is.

    While profiling every rank runs ``max_num_batched_tokens`` tokens.
    """
    ranks, text = gathering_ranks(deployment), deployment.model.text
    if ranks == 1 or text.experts is None:
        return 0
    width = _COPIES * text.hidden + text.experts.count
    tokens = ranks * deployment.max_num_batched_tokens.value
    return tokens * width * deployment.dtype.value.nbytes


def _backend(deployment: Deployment) -> str:
    flag = deployment.launch.flag("all2all-backend")
    given = flag.value if flag is not None else None
    return given or deployment.environment.get("VLLM_ALL2ALL_BACKEND", "")
