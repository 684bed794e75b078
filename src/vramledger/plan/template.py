"""Texts that ship with the plan: the template to fill in and the JSON Schema."""

from pathlib import Path

_FOLDER = Path(__file__).parent


def template() -> str:
    """A commented plan without any threshold; model, lengths and load are left to fill in."""
    return (_FOLDER / "template.yaml").read_text(encoding="utf-8")


def schema_text() -> str:
    """The JSON Schema of the plan file, as `scripts/make_plan_schema.py` wrote it."""
    return (_FOLDER / "plan.schema.json").read_text(encoding="utf-8")
