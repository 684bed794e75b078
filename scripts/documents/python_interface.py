"""The Python interface's reference, from its signatures and docstrings."""

from inspect import cleandoc, isfunction, signature

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
            parts += [f"### {name}", "", f"{said} (`{item.__module__}`)", ""]
    return "\n".join(parts).rstrip()
