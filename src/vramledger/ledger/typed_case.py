"""A launch as a person types it, and figures beside it, as a `Case`."""

from typing import Final

from vramledger.engine.read import read_launch
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of

_MOST_GIB: Final = 1e6


@frozen
class Typed:
    """What is asked of a launch: `version` wins over its own, `version_if_unstated` does not."""

    gpu: str
    version: str | None = None
    version_if_unstated: str | None = None
    total_gib: float | None = None  # that the driver reports, per GPU
    used_gib: float = 0.0  # that other processes hold, per GPU
    request_tokens: int | None = None


def case_of(text: str, typed: Typed) -> Case:
    """The case of a launch command, or of the file that holds one.

    Raises:
        BadInput: the launch or a figure is not possible.
        UnknownName: a flag, version, model or GPU is not known.
        CannotKnow: the launch is another engine's.
    """
    if typed.request_tokens is not None:
        at_least_one(typed.request_tokens, "request_tokens")
    if not 0 <= typed.used_gib < _MOST_GIB:
        raise BadInput(
            f"used_gib is {typed.used_gib:g}; give the GiB that other processes hold on a GPU."
        )
    version, if_unstated = typed.version, typed.version_if_unstated
    launch = read_launch(text, version=version)
    if launch.engine != "vllm":
        raise CannotKnow(f"The launch is {launch.engine}'s, whose memory rules are not known here.")
    if launch.version is None and if_unstated is not None:
        launch, version = read_launch(text, version=if_unstated), if_unstated
    card = accelerator_for(typed.gpu, typed.total_gib, "gpu")
    return Case(launch, model_of(launch), card, version, typed.request_tokens, typed.used_gib)


def at_least_one(count: int, name: str) -> int:
    """The count.

    Raises:
        BadInput: it is below 1.
    """
    if count < 1:
        raise BadInput(f"{name} is {count}; it must be at least 1.")
    return count
