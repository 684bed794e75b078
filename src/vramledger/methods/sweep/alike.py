"""Whether a point is the base under another spelling: a default that is set, a value that counts for nothing."""

from dataclasses import fields
from typing import Any, Final

from vramledger.engine.setting import Setting
from vramledger.engine.vllm.deployment import Deployment
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.run import NotServed, Question, ready_for

_SAID_ONLY: Final = frozenset({"launch", "version_note", "usage", "ignored", "notes"})


def alike(one: Question, other: Question) -> bool:
    """Whether both are simulated from the same figures to the last, whatever was typed.

    Raises:
        BadInput: a deployment that is none.
        CannotKnow: a card, cache or feature that cannot be simulated.
    """
    if _asked(one) != _asked(other):
        return False
    if _values(one.case.deployment()) != _values(other.case.deployment()):
        return False
    sides = [ready_for(question) for question in (one, other)]
    first, second = (
        None
        if isinstance(side, NotServed)
        else settings_of(
            side.deployment, side.pool, prefix_caching=False, acceptance=one.acceptance
        )
        for side in sides
    )
    return first is not None and first == second


def _asked(question: Question) -> dict[str, Any]:
    """All but the launch."""
    return {
        field.name: getattr(question, field.name)
        for field in fields(question)
        if field.name != "case"
    }


def _values(deployment: Deployment) -> dict[str, Any]:
    """What it resolves to, without where each value comes from."""
    found = {
        field.name: getattr(deployment, field.name)
        for field in fields(deployment)
        if field.name not in _SAID_ONLY
    }
    return {
        name: value.value if isinstance(value, Setting) else value for name, value in found.items()
    }
