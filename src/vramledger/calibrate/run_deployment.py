"""The deployment that a run was made on: what its run.json says, with what the user adds."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from vramledger.engine.launch import Flag, Launch
from vramledger.engine.read import read_launch
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of

if TYPE_CHECKING:
    from vramledger.record.document import Description

_ENGINE: Final = "vllm"
_ON_UNLESS_SAID: Final = ("enable-prefix-caching", "enable-chunked-prefill", "async-scheduling")
_TORCH: Final = "torch."
_LOCAL: Final = "+"  # 0.32.0+cpu is 0.32.0


@frozen
class Stated:
    """What the user says of the deployment, where run.json does not or is to be overruled."""

    launch: str | None = None
    gpu: str | None = None
    model: str | None = None
    version: str | None = None


def case_of(description: "Description", stated: Stated) -> Case:
    """The launch on its card.

    Raises:
        BadInput: neither the run nor the user names the card or the model.
        UnknownName: a card, model or flag that is none.
        CannotKnow: another engine.
    """
    found, asked = description.in_effect, description.asked
    engine = found.engine or asked.engine
    if stated.launch is None and engine not in (None, _ENGINE):
        raise CannotKnow(
            f"The run is of {engine}, whose steps are not simulated; vLLM's are calibrated."
        )
    version = stated.version or found.engine_version or asked.engine_version
    launch = _launch(description, stated, release(version))
    if stated.model is not None:
        launch = Launch(launch.engine, stated.model, launch.flags)
    return Case(launch, model_of(launch), _card(description, stated), release(version))


def release(version: str | None) -> str | None:
    return None if version is None else version.partition(_LOCAL)[0]


def _launch(description: "Description", stated: Stated, version: str | None) -> Launch:
    if stated.launch is not None:
        return read_launch(stated.launch, version=version)
    asked, found = description.asked, description.in_effect
    model = stated.model or asked.model or found.model
    if model is None:
        raise BadInput("The run does not say which model was served; name it with --model NAME.")
    arguments = {**(asked.arguments or {}), **(found.arguments or {})}
    return Launch(_ENGINE, model, tuple(flags_of(arguments)))


def flags_of(arguments: Mapping[str, Any]) -> Iterator[Flag]:
    """Arguments by name, as a run.json has them, as the flags of a launch."""
    for name, value in arguments.items():
        if value is None:
            continue
        if isinstance(value, bool):
            if value or name in _ON_UNLESS_SAID:
                yield Flag(name, None if value else "false", f"--{'' if value else 'no-'}{name}")
        else:
            yield Flag(name, str(value).removeprefix(_TORCH), f"--{name}")


def _card(description: "Description", stated: Stated) -> Accelerator:
    name = stated.gpu or description.in_effect.gpu or description.asked.gpu
    if name is None:
        raise BadInput(
            "The run does not say on which accelerator it was made; name it with --gpu NAME (vram gpus lists the "
            "names, cpu is this machine's processor)."
        )
    return accelerator_for(name)
