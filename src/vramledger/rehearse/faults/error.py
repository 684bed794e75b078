"""``error:SHARE``: that share of the requests is answered with HTTP 500."""

from http import HTTPStatus
from random import Random

from vramledger.rehearse.api.refusal import Refusal
from vramledger.rehearse.faults.fault import Chance


class Error(Chance):
    """The server fails before it has begun to answer."""

    form = "error:SHARE"

    def refusal(self, draw: Random) -> Refusal | None:
        """An internal error."""
        if not self.befalls(draw):
            return None
        return Refusal("EngineCore encountered an issue.", HTTPStatus.INTERNAL_SERVER_ERROR)
