"""What a plan says by its text alone: no file that it names is opened, so that a stranger's plan can be read."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.plan.contract import contract
from vramledger.plan.requirement import Contract, Kind
from vramledger.plan.workload import written
from vramledger.yaml_text import YamlText, parse_yaml

if TYPE_CHECKING:
    from vramledger.plan.document import PlanPart

_WHOLE: Final = "all"  # the scenario of a plan that has none


def promises(text: str, name: str = "plan.yaml") -> Mapping[str, Contract]:
    """The contract of each scenario; `name` is the file's, for messages.

    Raises:
        BadInput: it is no plan, or a contract in it makes no sense.
    """
    tree = parse_yaml(text, name)
    found = {
        each: contract(part.contract, Kind(part.kind), ("scenarios", each, "contract"), tree)
        for each, part in _shaped(tree).scenarios.items()
    }
    return found or {_WHOLE: Contract()}


@frozen
class Terms:
    """How a scenario is judged: its kind, and the share of the KV cache (0..1) that it keeps free, None: by kind."""

    kind: Kind
    headroom: float | None


def terms(text: str, scenario: str | None, name: str = "plan.yaml") -> Terms:
    """Of a scenario of a plan; of the whole plan where it has none of that name.

    Raises:
        BadInput: it is no plan.
    """
    plan = _shaped(parse_yaml(text, name))
    part = plan.scenarios.get(scenario or "")
    kept = plan.headroom if part is None or part.headroom is None else part.headroom
    kind = Kind.LATENCY if part is None else Kind(part.kind)
    return Terms(kind, None if isinstance(kept, str) else kept)


def named_loads(text: str, name: str = "plan.yaml") -> tuple[str, ...]:
    """The files of recorded requests that a plan names, as it names them: relative to where it lies.

    Raises:
        BadInput: it is no plan.
    """
    plan = _shaped(parse_yaml(text, name))
    stated = (plan.workload, *(each.workload for each in plan.scenarios.values()))
    found = (written(each, ()).part.file for each in stated if each is not None)
    return tuple(dict.fromkeys(file for file in found if file is not None))


def named_evidence(text: str, name: str = "plan.yaml") -> tuple[str, ...]:
    """The files of evidence of quality that a plan names, likewise.

    Raises:
        BadInput: it is no plan.
    """
    quality = _shaped(parse_yaml(text, name)).quality
    return tuple(each for each in (quality.shadow, quality.lm_eval) if each is not None)


def _shaped(tree: YamlText) -> "PlanPart":
    from pydantic import ValidationError

    from vramledger.plan.document import PlanPart
    from vramledger.plan.problems import PlanProblems, sentences

    if not isinstance(tree.value, dict):
        raise BadInput(f"{tree.name} is not a plan: it holds no keys at its top.")
    try:
        return PlanPart.model_validate(tree.value)
    except ValidationError as error:
        raise PlanProblems(tuple(sentences(error, tree)), tree.name) from error
