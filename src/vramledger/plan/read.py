"""Reading a plan file: text, then YAML, then its shape, then what it means."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.errors import BadInput
from vramledger.named_file import read_text
from vramledger.plan.requirement import Requirement
from vramledger.yaml_nodes import MOST_CHARACTERS
from vramledger.yaml_text import YamlText, parse_yaml

if TYPE_CHECKING:
    from vramledger.plan.document import PlanPart


def read_plan(path: str) -> Requirement:
    """The requirement that a plan file states.

    Raises:
        BadInput: the file cannot be read, is not YAML, or is not a plan (`PlanProblems`).
        CannotKnow: it asks for something that is sound but not supported yet.
    """
    return parse_plan(_read_text(Path(path)), path)


def parse_plan(text: str, name: str = "plan.yaml") -> Requirement:
    """The requirement that the text of a plan states; `name` is the file's, for messages.

    Raises:
        BadInput: as `read_plan`.
        CannotKnow: as `read_plan`.
    """
    from vramledger.plan.build import build

    tree = parse_yaml(text, name)
    return build(_shaped(tree), tree)


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of the plan file."""
    from vramledger.plan.document import PlanPart

    schema = PlanPart.model_json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "vramledger plan"}
    return {**schema, **head}


def _shaped(tree: YamlText) -> "PlanPart":
    from pydantic import ValidationError

    from vramledger.plan.document import PlanPart
    from vramledger.plan.problems import PlanProblems, sentences

    if not isinstance(tree.value, dict):
        raise BadInput(
            f"{tree.name} is not a plan: it holds no keys at its top; `vram plan new` writes one "
            "to start from."
        )
    try:
        return PlanPart.model_validate(tree.value)
    except ValidationError as error:
        raise PlanProblems(sentences(error, tree), tree.name) from error


def _read_text(path: Path) -> str:
    text = read_text(path, 4 * MOST_CHARACTERS, "a plan")
    if not text.strip():
        raise BadInput(f"{path} is empty; `vram plan new` writes a plan to start from.")
    return text
