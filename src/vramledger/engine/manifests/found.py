"""An engine start found in a file, with the name a person would pick it by."""

from vramledger.engine.invocation import Invocation
from vramledger.frozen import frozen


@frozen
class Found:
    """One engine start. `where` names file and key for messages."""

    name: str
    invocation: Invocation
    where: str
    notes: tuple[str, ...] = ()
