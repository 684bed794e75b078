"""What other tools say of a failed request, as one of our classes of failure; their words are not kept."""

import re
from http import HTTPStatus
from typing import Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.trial.wire.failures import named, of_http

FOREIGN: Final = "foreign"
_FIRST_ERROR: Final = 400
_PHRASES: Final = {each.phrase.lower(): each.value for each in HTTPStatus if each >= _FIRST_ERROR}
_STATUS: Final = re.compile(
    r"\b(?:server error|client error|HTTP error|status(?: code)?|HTTP)\W{0,3}([45]\d\d)\b",
    re.IGNORECASE,
)
_WORDS: Final = (  # the particular before the general
    ("timeout", "request_timeout"),
    ("timed out", "request_timeout"),
    ("refused", "connect_refused"),
    ("cannot connect", "connect_refused"),
    ("incomplete chunked read", "reset_mid_stream"),
    ("payload", "reset_mid_stream"),
    ("name resolution", "dns"),
    ("getaddrinfo", "dns"),
    ("disconnected", "closed_early"),
    ("reset", "reset"),
    ("json", "bad_json"),
)


@frozen
class Failed:
    """The class, the outcome it means, and the status of the response, where one was told."""

    error_class: str
    outcome: Outcome
    status: int | None = None


def failed(words: str, status: int | None = None) -> Failed:
    """By the status where there is one, else by the last line of what the tool said."""
    line = words.strip().rpartition("\n")[2]
    told = _PHRASES.get(line.lower()) if status is None else status
    if told is None and (match := _STATUS.search(line)):
        told = int(match[1])
    if told is not None:
        row = of_http(told)
        return Failed(row.name, row.outcome, told)
    lowered = line.lower()
    name = next((name for word, name in _WORDS if word in lowered), FOREIGN)
    return Failed(name, named(name).outcome)
