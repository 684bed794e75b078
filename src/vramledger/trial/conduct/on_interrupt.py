"""What Ctrl-C means."""

from enum import StrEnum


class OnInterrupt(StrEnum):
    """What happens to requests that are under way; a second Ctrl-C cancels in any case."""

    DRAIN = "drain"
    CANCEL = "cancel"
