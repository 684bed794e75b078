"""Speculative decoding of a deployment: what each method asks of the scheduler, with an assumed acceptance.

What a method reserves is what ``Scheduler.__init__`` of ``vllm/v1/core/sched/scheduler.py`` and
``num_lookahead_slots`` of ``vllm/config/speculative.py`` say in 0.32.0. The slots of a draft model are
there from its first release on V1 (0.15). How many drafts are accepted depends on texts, which no workload
has: the user states it.
"""

from collections.abc import Mapping
from math import ceil
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.settings import ACCEPTANCE_SCALE, Settings, Speculation


@frozen
class Method:
    """How a method drafts K tokens: slots beyond the scheduled tokens, and what it runs for them."""

    slots: bool = True  # K slots are held
    extra_slots: int = 0  # beyond K
    rows: int = 0  # extra rows of the token budget a request takes
    reads_hidden: bool = (
        False  # its head reads the model's hidden states: a last cached block is dropped
    )
    runs_model: bool = True  # a model or layers run for the drafts
    at_once: bool = False  # all K drafts come from one pass


_EAGLE: Final = Method(reads_hidden=True)
_LOOKED_UP: Final = Method(slots=False, runs_model=False)
METHODS: Final[Mapping[str, Method]] = {
    "eagle": _EAGLE,
    "eagle3": _EAGLE,
    "mtp": _EAGLE,
    "dflash": Method(extra_slots=1, reads_hidden=True, at_once=True),
    "draft_model": Method(rows=1),
    "ngram": _LOOKED_UP,
    "ngram_gpu": _LOOKED_UP,
    "suffix": _LOOKED_UP,
}


def refuse_acceptance(deployment: Deployment, acceptance: float | None) -> None:
    """Refuse an acceptance without drafts, and drafts without one.

    Raises:
        BadInput: the launch does not speculate.
        CannotKnow: nobody said how many drafts are accepted, or how it drafts is not simulated.
    """
    speculation = deployment.speculation
    if speculation is None:
        if acceptance is not None:
            raise BadInput(
                "--acceptance is of drafts, and the launch makes none; leave it out, or add "
                "--speculative-config."
            )
        return
    if acceptance is None:
        raise CannotKnow(
            "How many drafts are accepted is not known before the server runs; state the share with "
            "--acceptance RATE (0..1), or simulate the launch without its draft."
        )
    if speculation.method not in METHODS:
        raise CannotKnow(
            f"How {speculation.method} drafts is not simulated; {', '.join(METHODS)} are."
        )
    if speculation.draft is None and speculation.uncounted:
        raise CannotKnow(
            f"What drafting costs is not known, because the draft model {speculation.draft_reference} "
            "could not be read; name a directory with its config.json."
        )


def speculation_of(deployment: Deployment, acceptance: float | None) -> Speculation | None:
    """The scheduler's part of it, None where the launch does not speculate.

    Raises:
        BadInput, CannotKnow: as `refuse_acceptance`.
    """
    refuse_acceptance(deployment, acceptance)
    asked = deployment.speculation
    if asked is None or acceptance is None:
        return None
    method = METHODS[asked.method]
    return Speculation(
        tokens=asked.tokens,
        acceptance=round(acceptance * ACCEPTANCE_SCALE),
        lookahead=asked.tokens + method.extra_slots if method.slots else 0,
        rows=method.rows,
        drops_last_block=method.reads_hidden,
    )


def tokens_a_step(drafts: int, acceptance: float) -> float:
    """Tokens that a decode step yields on average: one, and each draft while all before it held.

    1 + p + p^2 + ... + p^K (Leviathan, Kalman and Matias 2023, arXiv:2211.17192, equation 1).
    """
    return sum(acceptance**place for place in range(drafts + 1))


def decode_steps(settings: Settings, output_tokens: int) -> int:
    """Steps that an answer takes on average; as many as it has tokens where nothing is drafted."""
    asked = settings.speculation
    if asked is None:
        return output_tokens
    mean = tokens_a_step(asked.tokens, asked.acceptance / ACCEPTANCE_SCALE)
    return max(ceil(output_tokens / mean), 1)


def acceptance_note(deployment: Deployment, acceptance: float | None) -> str:
    """The sentence that says what was assumed; empty where the launch does not speculate."""
    asked = deployment.speculation
    if asked is None or acceptance is None:
        return ""
    mean = tokens_a_step(asked.tokens, acceptance)
    return (
        f"Drafts are accepted at an assumed {acceptance:.0%} at each of {asked.tokens} positions, which is "
        f"{mean:.2f} tokens a step on average; every figure rests on it, and on the draft's share of the "
        "step time, which was not measured."
    )
