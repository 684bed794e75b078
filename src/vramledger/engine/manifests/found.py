"""An engine start found in a file, with the name a person would pick it by."""

from dataclasses import dataclass

from vramledger.engine.invocation import Invocation


@dataclass(frozen=True, slots=True)
class Found:
    """One engine start. `where` names file and key for messages."""

    name: str
    invocation: Invocation
    where: str
    notes: tuple[str, ...] = ()
