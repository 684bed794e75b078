"""Which run belongs to which scenario of the plan: by name, and by the hash of the workload."""

from typing import TYPE_CHECKING

from vramledger.errors import BadInput, UnknownName
from vramledger.plan.requirement import Requirement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vramledger.record.run import Run


def by_scenario(runs: "Sequence[Run]", plan: Requirement) -> "Mapping[str, Run]":
    """The run of each scenario that has one.

    A run that names no scenario is that of a plan's only one.

    Raises:
        UnknownName: a run was made for a scenario that the plan does not have.
        BadInput: two runs are of one scenario, or a run names none of several.
    """
    names = [each.name for each in plan.scenarios]
    found: dict[str, Run] = {}
    for run in runs:
        name = run.description.scenario
        if name is None and len(names) == 1:
            name = names[0]
        if name is None:
            raise BadInput(
                f"{run.path} names no scenario, and {plan.name} has {len(names)}; make the run with --scenario, one of "
                f"{', '.join(names)}."
            )
        if name not in names:
            raise UnknownName("scenario", name, names, str(run.path))
        if name in found:
            raise BadInput(
                f"{found[name].path} and {run.path} are both of the scenario {name}, and one run decides each; name one of them, or "
                "see what they come to together with vram trial repeat."
            )
        found[name] = run
    return found


def other_workload(run: "Run", stated_sha256: str | None) -> str:
    """What is wrong with the workload that a run sent; empty where it is the plan's, or nobody can say."""
    sent = run.description.workload_sha256
    if stated_sha256 is None or sent is None or sent == stated_sha256:
        return ""
    return f"the run sent another workload ({sent[:12]}) than the plan's ({stated_sha256[:12]})"
