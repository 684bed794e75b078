"""The keys of a plan file, from its JSON Schema."""

import json
from collections.abc import Iterator
from typing import Any

from vramledger.plan.template import schema_text

Schema = dict[str, Any]


def plan_keys() -> str:
    """One table for the plan and one for each part of it."""
    schema = json.loads(schema_text())
    parts = ["### The plan", "", *_table(schema), ""]
    for name, part in schema["$defs"].items():
        if "properties" in part:
            parts += [f"### {name}", "", part.get("description", ""), "", *_table(part), ""]
    return "\n".join(parts).rstrip()


def _table(part: Schema) -> Iterator[str]:
    required = set(part.get("required", ()))
    yield "| key | type | default | meaning |"
    yield "|---|---|---|---|"
    for key, value in part["properties"].items():
        needed = "required" if key in required else _default(value)
        yield f"| `{key}` | {_type(value)} | {needed} | {value.get('description', '')} |"


def _default(value: Schema) -> str:
    default = value.get("default")
    return "" if default is None or default in ([], {}) else f"`{json.dumps(default)}`"


def _type(value: Schema) -> str:
    for key in ("anyOf", "oneOf"):
        if key in value:
            kinds = [_type(option) for option in value[key] if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    return _plain(value)


def _plain(value: Schema) -> str:
    kind = str(value.get("type", "any"))
    if kind == "array" and "items" in value:
        return f"list of {_type(value['items'])}"
    extra = value.get("additionalProperties")
    if kind == "object" and isinstance(extra, dict):
        return f"map to {_type(extra)}"
    return {"object": "map"}.get(kind, kind) + _range(value)


def _range(value: Schema) -> str:
    low = value.get("minimum", value.get("exclusiveMinimum"))
    high = value.get("maximum", value.get("exclusiveMaximum"))
    if low is None and high is None:
        return ""
    above = "above " if "exclusiveMinimum" in value else ""
    if high is None:
        return f" ({above}{low}{'' if above else ' or more'})"
    return f" ({above}{'' if low is None else low} to {high})"
