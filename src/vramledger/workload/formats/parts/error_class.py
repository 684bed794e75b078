"""What became of a request by the class of its error: never by the error's text."""

from typing import Any, Final

from vramledger.record.outcome import Outcome, of_status

_BEGINNINGS: Final = (  # of the class names of OpenAI's, Anthropic's and LiteLLM's libraries
    ("timeout", Outcome.TIMED_OUT),
    ("apitimeout", Outcome.TIMED_OUT),
    ("deadline", Outcome.TIMED_OUT),
    ("cancel", Outcome.CANCELLED),
    ("clientdisconnect", Outcome.CANCELLED),
    ("ratelimit", Outcome.REJECTED),
    ("contextwindow", Outcome.REJECTED),
    ("badrequest", Outcome.REJECTED),
    ("invalidrequest", Outcome.REJECTED),
    ("unprocessable", Outcome.REJECTED),
    ("contentpolicy", Outcome.REJECTED),
    ("authentication", Outcome.REJECTED),
    ("permission", Outcome.REJECTED),
    ("notfound", Outcome.REJECTED),
    ("budgetexceeded", Outcome.REJECTED),
    ("overloaded", Outcome.REJECTED),
    ("serviceunavailable", Outcome.REJECTED),
)


def outcome_of_error(code: Any, name: Any) -> Outcome:
    """The outcome that an HTTP status (429, "429") tells, else the class of the error, else FAILED."""
    try:
        status = int(code)
    except (TypeError, ValueError, OverflowError):
        status = 0
    if 400 <= status < 600:
        return of_status(status)
    said = str(name or "").rsplit(".", 1)[-1].replace("_", "").lower()
    for beginning, outcome in _BEGINNINGS:
        if said.startswith(beginning):
            return outcome
    return Outcome.FAILED
