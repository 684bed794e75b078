"""Reading a plan file: text, then YAML, then its shape, then what it means."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from vramledger.errors import BadInput, CannotKnow
from vramledger.model.files import HUB_PREFIX
from vramledger.model.load import load_model
from vramledger.named_file import read_text
from vramledger.plan.requirement import Requirement
from vramledger.yaml_nodes import MOST_CHARACTERS
from vramledger.yaml_text import YamlText, parse_yaml

if TYPE_CHECKING:
    from vramledger.plan.document import PlanPart

Known: TypeAlias = Callable[[str], object]


def read_plan(path: str) -> Requirement:
    """The requirement that a plan file states.

    Raises:
        BadInput: the file cannot be read, is not YAML, or is not a plan (`PlanProblems`).
        CannotKnow: it asks for something that is sound but not supported yet.
    """
    return parse_plan(_read_text(Path(path)), path, _known_model)


def parse_plan(text: str, name: str = "plan.yaml", known: Known | None = None) -> Requirement:
    """The requirement that the text of a plan states; `name` is the file's, for messages.

    `known` raises BadInput for the name of a model that is none; without it names are not checked.

    Raises:
        BadInput: as `read_plan`.
        CannotKnow: as `read_plan`.
    """
    from vramledger.plan.build import build

    tree = parse_yaml(text, name)
    return build(_shaped(tree, known), tree, known)


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of the plan file."""
    from vramledger.plan.document import PlanPart

    schema = PlanPart.model_json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "vramledger plan"}
    return {**schema, **head}


def _known_model(name: str) -> None:
    """Refuse a name that is no model; one on the hub is left to whoever loads it.

    Raises:
        BadInput: it is none.
    """
    if not name.startswith(HUB_PREFIX):
        with suppress(CannotKnow):
            load_model(name)


def _shaped(tree: YamlText, known: Known | None) -> "PlanPart":
    from pydantic import ValidationError

    from vramledger.plan.build import problems_of
    from vramledger.plan.document import PlanPart
    from vramledger.plan.problems import PlanProblems, in_order, sentences
    from vramledger.plan.sound import sound_part

    if not isinstance(tree.value, dict):
        raise BadInput(
            f"{tree.name} is not a plan: it holds no keys at its top; `vram plan new` writes one "
            "to start from."
        )
    try:
        return PlanPart.model_validate(tree.value)
    except ValidationError as error:
        rest = sound_part(tree)
        more = () if rest is None else problems_of(rest, tree, known)
        found = in_order((*sentences(error, tree), *more), tree)
        raise PlanProblems(found, tree.name) from error


def _read_text(path: Path) -> str:
    text = read_text(path, 4 * MOST_CHARACTERS, "a plan")
    if not text.strip():
        raise BadInput(f"{path} is empty; `vram plan new` writes a plan to start from.")
    return text
