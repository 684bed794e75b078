"""The ways to serve that can be asked for by name, for contrast with vLLM's.

A policy that serves step by step is a plain object like those of `policy`; the batches of `batches`
are its short form where nobody joins a batch that has begun.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from vramledger.errors import CannotKnow, UnknownName
from vramledger.frozen import frozen
from vramledger.simulate.batches import Batching
from vramledger.simulate.settings import Settings

VLLM: Final = "vllm"
_FAVOURED: Final = (
    "are as large as --max-num-seqs and the cache allow, with the lengths of the answers known, and are "
    "priced by the same step time as vLLM, so what differs is the scheduling alone."
)


@frozen
class Served:
    """A way to serve, in words; `batching` is None for vLLM's own scheduler."""

    words: str
    batching: Batching | None = None
    note: str = ""  # what a reader of its figures must know


POLICIES: Final[Mapping[str, Served]] = {
    VLLM: Served("continuous batching, as vLLM schedules"),
    "static": Served(
        "static batches: nobody joins until all of a batch are done",
        Batching(padded=False),
        f"Batches of the policy static {_FAVOURED}",
    ),
    "transformers": Served(
        "generate of transformers: static batches padded to the longest prompt and answer",
        Batching(padded=True),
        f"Batches of the policy transformers {_FAVOURED} An answer counts as done when its batch is.",
    ),
}


def policy_named(name: str) -> Served:
    """The way to serve of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in POLICIES:
        raise UnknownName("policy", name, POLICIES, "--policy", f"There are {', '.join(POLICIES)}.")
    return POLICIES[name]


def batch_settings(settings: Settings) -> Settings:
    """The settings that count for batches: they have no prefix cache, and no step in flight beside another.

    Raises:
        CannotKnow: drafts are asked for.
    """
    if settings.speculation is not None:
        raise CannotKnow(
            "Speculative decoding is simulated with vLLM's scheduler alone; leave --policy out, or the "
            "launch's draft."
        )
    return replace(settings, prefix_caching=False, async_scheduling=False)
