"""Keys of a JSON answer as paths: what the documents list and what the program prints."""

import re
from collections.abc import Iterator
from typing import Any, Final

FIGURE: Final = frozenset({"value", "low", "high", "basis", "source"})
UNKNOWN: Final = frozenset({"value", "reason"})
_ROW: Final = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
_SECTION: Final = re.compile(r"^## (vramledger\.[\w-]+/\d+)$", re.MULTILINE)


def printed_paths(answer: Any, above: str = "") -> Iterator[str]:
    """Every key as ``a.b[].c``; a figure is one key, whatever it holds."""
    if isinstance(answer, list):
        for item in answer:
            yield from printed_paths(item, f"{above}[]")
    elif isinstance(answer, dict) and set(answer) not in (FIGURE, UNKNOWN):
        for key, value in answer.items():
            path = f"{above}.{key}" if above else key
            yield path
            yield from printed_paths(value, path)


def documented(page: str) -> dict[str, frozenset[str]]:
    """The keys that each schema's section of the page lists."""
    parts = _SECTION.split(page)[1:]
    return {
        schema: frozenset(_ROW.findall(text))
        for schema, text in zip(parts[::2], parts[1::2], strict=True)
    }


def covers(keys: frozenset[str], path: str) -> bool:
    """Whether a listed key stands for the path; ``*`` stands for any one name, ``**`` for all that is below."""
    return path in keys or any(_pattern(key).fullmatch(path) for key in keys if "*" in key)


def _pattern(key: str) -> re.Pattern[str]:
    below = re.escape(key).replace(r"\*\*", ".+")
    return re.compile(below.replace(r"\*", r"[^.\[\]]+"))
