"""What differs between vLLM's versions: families side by side, and every rule with its values."""

import re
from collections.abc import Iterator
from dataclasses import fields
from enum import StrEnum
from inspect import getsource
from itertools import groupby
from typing import Any, Final, get_type_hints

from vramledger.engine.vllm.rules import Rules
from vramledger.engine.vllm.versions import FAMILIES, rules_for

_SIDE_BY_SIDE: Final = (
    ("utilization", "utilization_default"),
    ("before the cache", "profile"),
    ("graphs in the budget", "graph_in_budget"),
    ("printed tokens", "token_figure"),
    ("check at start", "fit_check"),
    ("sampler", "sampler"),
)
_COMMENT: Final = re.compile(
    r"^    (?P<name>\w+): (?:[^#\n]*|[^#\n]*\(\n[^#\n]*\n?[^#\n]*)#\s*(?P<comment>.*)$",
    re.MULTILINE,
)
_VERSIONS: Final = re.compile(r"\s*\([^()]*0\.\d[^()]*\)")
_NOT_RULES: Final = frozenset({"family", "v1"})
_OWN_NAME: Final = {
    "utilization_default": "share of the reported memory when no utilization is given",
    "null_block_in_fit_check": "the block that is never used counts in the check at start",
}


def families() -> str:
    """Neighbouring families with the same main rules, one row."""
    head = "| versions | generation | " + " | ".join(title for title, _ in _SIDE_BY_SIDE) + " |"
    rows = [f"| {span} | {' | '.join(values)} |" for span, values in _grouped()]
    return "\n".join([head, "|---|---|" + "---|" * len(_SIDE_BY_SIDE), *rows])


def _grouped() -> Iterator[tuple[str, tuple[str, ...]]]:
    def key(family: str) -> tuple[str, ...]:
        found = rules_for(family).rules
        shown = tuple(_shown(getattr(found, name)) for _, name in _SIDE_BY_SIDE)
        return ("V1" if found.v1 else "V0", *shown)

    for values, members in groupby(FAMILIES, key=key):
        names = list(members)
        yield (names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"), values


def rule_table() -> str:
    """Every rule with its meaning and the families in which it takes each value."""
    meanings = _meanings()
    rows = [
        f"| `{field.name}` | {meanings[field.name]} | {_values(field.name)} |"
        for field in fields(Rules)
        if field.name not in _NOT_RULES
    ]
    return "\n".join(["| rule | meaning | value in 0.4, and changes |", "|---|---|---|", *rows])


def _values(name: str) -> str:
    spans = []
    for value, members in groupby(FAMILIES, key=lambda f: getattr(rules_for(f).rules, name)):
        families_of = list(members)
        spans.append((families_of[0], value))
    if len(spans) == 1:
        return f"always {_shown(spans[0][1])}"
    first, *later = spans
    return "; ".join(
        [_shown(first[1]), *(f"from {since}: {_shown(value)}" for since, value in later)]
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, StrEnum):
        return str(value)
    return "none" if value is None else f"{value}"


def _meanings() -> dict[str, str]:
    """What each rule is about: the comment beside its field, or the first line of its type."""
    comments = {match["name"]: match["comment"] for match in _COMMENT.finditer(getsource(Rules))}
    types = get_type_hints(Rules)
    found = {}
    for field in fields(Rules):
        kind = types[field.name]
        said = comments.get(field.name) or _OWN_NAME.get(field.name)
        said = said or (kind.__doc__ or "").partition("\n")[0].rstrip(".")
        found[field.name] = _VERSIONS.sub("", said).replace("|", "\\|")
    return found
