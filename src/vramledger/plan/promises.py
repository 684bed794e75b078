"""What a plan promises, by its text alone: no file that it names is opened, so that a stranger's plan can be read."""

from collections.abc import Mapping
from typing import Final

from vramledger.errors import BadInput
from vramledger.plan.contract import contract
from vramledger.plan.requirement import Contract, Kind
from vramledger.yaml_text import parse_yaml

_WHOLE: Final = "all"  # the scenario of a plan that has none


def promises(text: str, name: str = "plan.yaml") -> Mapping[str, Contract]:
    """The contract of each scenario; `name` is the file's, for messages.

    Raises:
        BadInput: it is no plan, or a contract in it makes no sense.
    """
    from pydantic import ValidationError

    from vramledger.plan.document import PlanPart
    from vramledger.plan.problems import PlanProblems, sentences

    tree = parse_yaml(text, name)
    if not isinstance(tree.value, dict):
        raise BadInput(f"{name} is not a plan: it holds no keys at its top.")
    try:
        plan = PlanPart.model_validate(tree.value)
    except ValidationError as error:
        raise PlanProblems(tuple(sentences(error, tree)), name) from error
    return {
        scenario: contract(
            part.contract, Kind(part.kind), ("scenarios", scenario, "contract"), tree
        )
        for scenario, part in plan.scenarios.items()
    } or {_WHOLE: Contract()}
