"""Results that depend on a card only by its kind, kept for the next card of that kind.

Comparing many cards asks for the same weights and cache layouts again and again: they depend on
the model and on the kernels a card runs, not on how much memory it has.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, fields
from functools import lru_cache
from typing import Any, Final, TypeVar

from vramledger.engine.vllm.deployment import Deployment
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator

Result = TypeVar("Result")
_KEPT: Final = 1024
_FIELDS: Final = tuple(part.name for part in fields(Deployment))
# What neither weights nor cache pages depend on, and differs from card to card or between changes
# that are tried: the words of the launch, how memory is shared out, what is captured in it.
UNRELATED: Final = frozenset(
    {
        "launch", "version_note", "gpu_memory_utilization", "kv_cache_memory_bytes",
        "num_gpu_blocks_override", "max_num_seqs", "enforce_eager", "cudagraph_capture_sizes",
        "cudagraph_mode", "ignored", "notes", "neighbours_gib",
    }
)  # fmt: skip


@frozen
class _Question:
    """A computation; equal questions have equal answers. `deployment` is one that asks it."""

    key: tuple[Hashable, ...]
    part: Hashable
    deployment: Deployment = field(compare=False)


def reused(
    compute: Callable[[Deployment, Any], Result],
    ignoring: Callable[[Deployment], frozenset[str]],
) -> Callable[[Deployment, Any], Result]:
    """`compute(deployment, part)`, answered from memory where only ignored fields differ.

    Models are told apart by identity; an answer keeps its deployment alive, so that an identity is
    never given to another model while it counts.
    """

    @lru_cache(maxsize=_KEPT)
    def answer(question: _Question) -> Result:
        return compute(question.deployment, question.part)

    def ask(deployment: Deployment, part: Any) -> Result:
        key = _key(deployment, ignoring(deployment) | UNRELATED)
        return answer(_Question(key, part, deployment))

    return ask


def _key(deployment: Deployment, ignored: frozenset[str]) -> tuple[Hashable, ...]:
    return tuple(
        _hashable(name, getattr(deployment, name)) for name in _FIELDS if name not in ignored
    )


def _hashable(name: str, value: Any) -> Hashable:
    if name == "model":
        return id(value)
    if name == "speculation":
        return value and (value.method, value.tokens, id(value.draft), value.draft_tp)
    if isinstance(value, Accelerator):
        return (value.vendor, value.architecture, value.compute_capability, value.gfx_target)
    if isinstance(value, Mapping):
        return tuple(sorted(value.items()))
    return value  # type: ignore[no-any-return]
