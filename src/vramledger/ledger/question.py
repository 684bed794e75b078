"""What a question names: the accelerator and the model behind a launch."""

from typing import Final

from vramledger.engine.launch import Launch
from vramledger.errors import BadInput
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.load import load_model
from vramledger.model.model import Model

_CPU: Final = "cpu"


def accelerator_for(name: str, total_gib: float | None = None, where: str = "--gpu") -> Accelerator:
    """The accelerator of that name, with another total if given.

    ``auto`` reads this machine's GPU, ``cpu`` its processor.

    `where` names the option in messages.

    Raises:
        UnknownName: no card has that name.
        BadInput: the name fits several cards, or the total is no size.
        CannotKnow: ``auto`` without a driver.
    """
    if name.casefold() == _CPU:
        from vramledger.hardware.cpu import this_host

        accelerator = this_host()
    elif name.casefold() == "auto":
        from vramledger.hardware.local import local_accelerator

        accelerator = local_accelerator()
    else:
        from vramledger.hardware.catalogue import find

        accelerator = find(name, where)
    if total_gib is None:
        return accelerator
    from vramledger.hardware.custom import with_total

    return with_total(accelerator, total_gib)


def model_of(launch: Launch) -> Model:
    """The model a launch names.

    Raises:
        BadInput: it names none, or none that can be read.
    """
    if launch.model is None:
        raise BadInput(
            f"{launch.where} names no model; write it after 'vllm serve' or as --model NAME."
        )
    return load_model(launch.model)
