"""Checking a plan file: every problem at once, and what others have to say about it."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from vramledger.frozen import frozen
from vramledger.plan.problems import PlanProblems
from vramledger.plan.read import read_plan
from vramledger.plan.requirement import Requirement

Judge: TypeAlias = Callable[[Requirement], Iterable[str]]
"""Says, one sentence each, what of a sound plan cannot be met or decided; sizing brings them."""


@frozen
class PlanCheck:
    """The outcome. `requirement` is None where `problems` keep the plan from being read."""

    name: str
    requirement: Requirement | None
    problems: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()  # from the judges
    undecided: tuple[str, ...] = ()  # from those who say what is open
    warnings: tuple[str, ...] = ()  # from those who doubt what is stated


def check_plan(
    path: str,
    judges: Sequence[Judge] = (),
    doubts: Sequence[Judge] = (),
    warners: Sequence[Judge] = (),
) -> PlanCheck:
    """Read a plan and ask the judges about it, what cannot be decided yet, and what looks wrong.

    Raises:
        BadInput: the file cannot be read as text or YAML.
        CannotKnow: it asks for something that is sound but not supported yet.
    """
    try:
        requirement = read_plan(path)
    except PlanProblems as error:
        return PlanCheck(path, None, error.problems)
    unmet = tuple(sentence for judge in judges for sentence in judge(requirement))
    undecided = tuple(sentence for doubt in doubts for sentence in doubt(requirement))
    warnings = tuple(sentence for warner in warners for sentence in warner(requirement))
    return PlanCheck(path, requirement, unmet=unmet, undecided=undecided, warnings=warnings)
