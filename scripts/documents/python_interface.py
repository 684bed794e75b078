"""The Python interface's reference, from its signatures, docstrings and the fields of its records."""

from dataclasses import fields
from inspect import cleandoc, formatannotation, isfunction, signature
from typing import get_type_hints

from vramledger import api


def python_interface() -> str:
    """Every function of the interface with its contract, and where its results are described."""
    parts = []
    for name in api.__all__:
        item = getattr(api, name)
        said = cleandoc(item.__doc__ or "")
        if isfunction(item):
            parts += [f"### {name}", "", "```", f"{name}{signature(item)}", "", said, "```", ""]
        else:
            parts += [f"### {name}", "", f"{said} (`{item.__module__}`)", "", *_record(item), ""]
    return "\n".join(parts).rstrip()


def _record(item: type) -> list[str]:
    """The fields of a record and its properties, one line each."""
    hints = get_type_hints(item)
    lines = [f"- `{field.name}`: `{formatannotation(hints[field.name])}`" for field in fields(item)]
    lines += [
        f"- `{name}`: `{formatannotation(get_type_hints(value.fget)['return'])}` (computed)"
        for name, value in vars(item).items()
        if isinstance(value, property) and not name.startswith("_")
    ]
    return lines
