"""The engine's arguments of a plan, read as vLLM's parser reads them, and what they pin."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from vramledger.engine.launch import Argument, Flag, Launch
from vramledger.engine.vllm.command import parse
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.sizing.question import Pinned
from vramledger.units import parse_count

_ELSEWHERE: Final[Mapping[str, str]] = {
    "model": "the plan's key model",
    "quantization": "the plan's key weights",
    "kv-cache-dtype": "the plan's key kv_dtype",
    "data-parallel-size": "nothing: replicas are counted by vram size",
}
_LENGTH: Final = "max-model-len"
_TP, _PP, _EP = "tensor-parallel-size", "pipeline-parallel-size", "enable-expert-parallel"


@frozen
class EngineArguments:
    """Flags every candidate keeps, the layout they state, and the length they limit requests to."""

    flags: tuple[Flag, ...] = ()
    pinned: Pinned = field(default_factory=Pinned)
    max_model_len: int | None = None


def engine_arguments(
    args: Mapping[str, str | None], version: str | None, where: str
) -> EngineArguments:
    """Arguments by canonical name (None: a switch), checked against that version's flags.

    Raises:
        UnknownName: the version has no such flag.
        BadInput: a value is no number where one is needed, or the flag has another place.
    """
    if not args:
        return EngineArguments()
    words = tuple(
        Argument(f"--{name}" if value is None else f"--{name}={value}")
        for name, value in args.items()
    )
    launch = Launch("vllm", None, where=f"{where}, engine.args", arguments=words)
    flags = parse(launch, version).flags
    for flag in flags:
        if flag.name in _ELSEWHERE:
            raise BadInput(
                f"{launch.where}: {flag.name} is said by {_ELSEWHERE[flag.name]}; leave it out here."
            )
    by_name = {flag.name: flag for flag in flags}
    length = by_name.get(_LENGTH)
    return EngineArguments(
        flags=tuple(flag for flag in flags if flag.name not in {_LENGTH, _TP, _PP, _EP}),
        pinned=Pinned(
            _count(by_name.get(_TP), launch.where),
            _count(by_name.get(_PP), launch.where),
            True if _EP in by_name else None,
        ),
        max_model_len=None if length is None else _count(length, launch.where),
    )


def _count(flag: Flag | None, where: str) -> int | None:
    """A whole number of at least 1.

    Raises:
        BadInput: it is none; ``auto`` is refused too, because lengths decide what must be held.
    """
    if flag is None:
        return None
    count = parse_count(flag.value or "", f"{flag.name} in {where}")
    if count < 1:
        raise BadInput(f"{flag.name} in {where} is {flag.value}; it must be at least 1.")
    return count
