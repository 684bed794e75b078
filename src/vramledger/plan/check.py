"""Checking a plan file: every problem at once, and what others have to say about it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vramledger.plan.problems import PlanProblems
from vramledger.plan.read import read_plan
from vramledger.plan.requirement import Requirement

Judge: TypeAlias = Callable[[Requirement], Iterable[str]]
"""Says, one sentence each, what of a sound plan cannot be met; sizing brings one."""


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """The outcome. `requirement` is None where `problems` keep the plan from being read."""

    name: str
    requirement: Requirement | None
    problems: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()  # from the judges


def check_plan(path: str, judges: Sequence[Judge] = ()) -> PlanCheck:
    """Read a plan and ask the judges about it.

    Raises:
        BadInput: the file cannot be read as text or YAML.
        CannotKnow: it asks for something that is sound but not supported yet.
    """
    try:
        requirement = read_plan(path)
    except PlanProblems as error:
        return PlanCheck(path, None, error.problems)
    unmet = tuple(sentence for judge in judges for sentence in judge(requirement))
    return PlanCheck(path, requirement, unmet=unmet)
