"""What made text says nothing about: speculative decoding, the balance of experts, structured output.

How many drafted tokens a model accepts, and which experts it reaches, depend on the text. Under drawn words both are those of
noise, so figures that depend on them are not those of real users.
"""

from collections.abc import Iterable
from typing import Final

from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract

_DECODED: Final = frozenset({"itl_s", "tpot_s", "e2e_s"})  # latencies that answers make
_AFTER_DECODE: Final = frozenset(
    {"requests_per_hour", "done_by"}
)  # goodput and what follows from its rate
DECODE_LINES: Final = tuple(sorted(_DECODED | _AFTER_DECODE))


@frozen
class Text:
    """What a trial sends, and what is known of the server that reads it. None: nobody told.

    `acceptance_set` is an acceptance length that the user set on the server and states, so that drafts do not depend
    on the text.
    """

    is_real: bool
    drafts: bool | None = None
    experts: bool | None = None
    acceptance_set: float | None = None
    structured: bool = False


@frozen
class Unjudgeable:
    """A line of a contract that a run with this text cannot decide, and why, as one sentence."""

    line: str
    why: str


def unjudgeable(text: Text, lines: Iterable[str]) -> tuple[Unjudgeable, ...]:
    """Those of a contract's keys ("ttft_s", "itl_s", ..., "requests_per_hour", "done_by") that cannot be judged."""
    if text.is_real or not text.drafts or text.acceptance_set is not None:
        return ()
    why = (
        "the server drafts tokens, and how many of them a model accepts in made text is not what it accepts in yours; "
        "send prompts of your own with --prompts, or set an acceptance length on the server and state it"
    )
    return tuple(
        Unjudgeable(line, f"{line} cannot be judged: {why}.")
        for line in lines
        if line in _DECODED | _AFTER_DECODE
    )


def warnings(text: Text) -> tuple[str, ...]:
    """What stands beside every figure of a run with this text."""
    if text.is_real:
        return ()
    found = []
    if text.acceptance_set is not None:
        found.append(
            f"Drafts are accepted at a length of {text.acceptance_set:g}, which was set and not measured (assumed)."
        )
    if text.experts:
        found.append(
            "The model has experts, and made text reaches them otherwise than real text does: decode may be faster or "
            "slower than under your requests."
        )
    if text.drafts is None:
        found.append(
            "Whether the server drafts tokens was not seen; if it does, decode figures of made text do not hold."
        )
    if text.structured:
        found.append("Structured output of made prompts says nothing about that of real ones.")
    return tuple(found)


def lines_of(contract: Contract) -> tuple[str, ...]:
    """The keys of a contract that are set."""
    rest = {
        "success": contract.success,
        "queue_must_drain": contract.queue_must_drain,
        "done_by": contract.done_by,
        "requests_per_hour": contract.requests_per_hour,
    }
    return (*contract.latency, *(name for name, value in rest.items() if value))
