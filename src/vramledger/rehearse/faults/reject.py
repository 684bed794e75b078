"""``reject:SHARE``: that share of the requests is turned away with HTTP 429 and told to come again."""

from http import HTTPStatus
from random import Random

from vramledger.rehearse.api.refusal import Refusal
from vramledger.rehearse.faults.fault import Chance


class Reject(Chance):
    """The server, or a gateway in front of it, has enough to do."""

    form = "reject:SHARE"

    def refusal(self, draw: Random) -> Refusal | None:
        """Come again in a second."""
        if not self.befalls(draw):
            return None
        later = (("retry-after", "1"),)
        return Refusal("Too many requests.", HTTPStatus.TOO_MANY_REQUESTS, headers=later)
