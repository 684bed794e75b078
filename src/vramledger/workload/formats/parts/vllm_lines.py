"""What single lines of vLLM's log say of a request."""

import ast
import re
from typing import Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.workload.fields import optional_whole_number

_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_PLACE: Final = re.compile(r"[\w/]\.py:\d+\] ")
_TEXT: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""  # as Python writes text
_IDENTITY: Final = r"(?P<identity>\S+?)"
_RECEIVED: Final = re.compile(
    rf"Received request {_IDENTITY}: (?:prompt: (?P<prompt>None|{_TEXT}), )?(?:prefix_pos: \S+?,\s?)?"
    r"(?P<rest>(?:sampling_)?params(?:_list)?: .*)",
    re.DOTALL,
)
_DETAILS: Final = re.compile(
    rf"Request {_IDENTITY} details: prompt: (?P<prompt>None|{_TEXT}), (?P<rest>prompt_token_ids: .*)",
    re.DOTALL,
)
_ADDED: Final = re.compile(rf"Added request {_IDENTITY}\.(?:\s|$)")
_GENERATED: Final = re.compile(
    rf"Generated response {_IDENTITY}(?P<part> \(streaming \w+\))?: output: (?P<output>None|{_TEXT})"
    r"(?P<rest>, .*)",
    re.DOTALL,
)
_FINISHED: Final = re.compile(rf"Finished request {_IDENTITY}\.(?:\s|$)")
_ABORTED: Final = re.compile(
    r"(?:Aborted request (?P<one>\S+?)\.|Request (?P<two>\S+?) aborted\.)(?:\s|$)"
)
_FAILED: Final = re.compile(rf"Request {_IDENTITY} failed\b(?P<why> \(bad request\))?")
_QUOTED: Final = re.compile(_TEXT)
_LIMIT: Final = re.compile(r"\bmax_tokens=(\d+)")
_IDS: Final = re.compile(r"(?:prompt|output)_token_ids: [\[(]([\d,\s]*)[\])]")
_ADAPTER: Final = re.compile(r"lora_request: LoRARequest\(lora_name=('(?:[^'\\]|\\.)*')")
_REASON: Final = re.compile(r"finish_reason: (\w+)")
_REASONS: Final = {"stop": Outcome.OK, "length": Outcome.OK, "tool_calls": Outcome.OK}


@frozen
class Received:
    """A line that begins a request, or that tells its prompt."""

    identity: str
    prompt: str | None = None
    tokens: int | None = None
    limit: int | None = None
    adapter: str | None = None


@frozen
class Ended:
    """A line that ends a request."""

    identity: str
    outcome: Outcome
    tokens: int | None = None
    text: str | None = None


def clean(line: str) -> str:
    """Without the colours that a terminal was sent."""
    return _COLOUR.sub("", line)


def message_of(line: str) -> str:
    """What a line says, after the place in the source that says it.

    Only there does a line begin or end a request: prompts and answers may hold anything.
    """
    place = _PLACE.search(line)
    return line if place is None else line[place.end() :]


def received(message: str) -> Received | None:
    """The request that a line begins.

    Raises:
        RowProblem: its limit is beyond any count.
    """
    found = _RECEIVED.match(message)
    if found is None:
        return None
    rest = _without_texts(found["rest"])
    limit = _LIMIT.search(rest)
    adapter = _ADAPTER.search(found["rest"])
    return Received(
        found["identity"],
        _text(found["prompt"]),
        _ids(rest),
        optional_whole_number(limit and limit[1], "max_tokens"),
        None if adapter is None else _text(adapter[1]),
    )


def added(message: str) -> str | None:
    """The identity that the engine took in."""
    found = _ADDED.match(message)
    return None if found is None else found["identity"]


def prompt_details(message: str) -> Received | None:
    """The prompt that versions from 0.11 tell in a line of its own, before the request's."""
    found = _DETAILS.match(message)
    if found is None:
        return None
    return Received(found["identity"], _text(found["prompt"]), _ids(found["rest"]))


def ended(message: str) -> Ended | None:
    """The request that a line ends, and how."""
    found = _GENERATED.match(message)
    if found is not None and found["part"] != " (streaming delta)":
        return _generated(found)
    found = _FINISHED.match(message)
    if found is not None:
        return Ended(found["identity"], Outcome.OK)
    found = _ABORTED.match(message)
    if found is not None:
        return Ended(found["one"] or found["two"], Outcome.CANCELLED)
    found = _FAILED.match(message)
    if found is not None:
        return Ended(found["identity"], Outcome.REJECTED if found["why"] else Outcome.FAILED)
    return None


def _generated(found: "re.Match[str]") -> Ended:
    rest = _without_texts(found["rest"])
    reason = _REASON.search(rest)
    said = None if reason is None else reason[1]
    outcome = Outcome.CANCELLED if said == "abort" else _REASONS.get(str(said), Outcome.UNKNOWN)
    return Ended(found["identity"], outcome, _ids(rest), _text(found["output"]))


def _without_texts(rest: str) -> str:
    """Stop sequences and adapters' names may read like parameters."""
    return _QUOTED.sub("''", rest)


def _text(literal: str | None) -> str | None:
    if literal is None or literal == "None":
        return None
    try:
        found = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return literal  # an escape that was cut: its length is what counts
    return found if isinstance(found, str) and found else None


def _ids(rest: str) -> int | None:
    """How many token ids a line lists; None where it lists none."""
    found = _IDS.search(rest)
    if found is None or not found[1].strip():
        return None
    return found[1].count(",") + (not found[1].rstrip().endswith(","))
