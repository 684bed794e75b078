"""Since which release vLLM lists a model class.

``data/model_classes.json`` was read out of the registries of the releases it names. Of releases in
between nothing is said, and nothing of a class that no registry lists.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from vramledger.engine.vllm.rules import Release
from vramledger.frozen import frozen

_CLASSES: Final = Path(__file__).parent / "data" / "model_classes.json"


@frozen
class Unlisted:
    """A class that a release does not list."""

    first: str  # the first release read that lists it
    fallback: bool  # whether the release tries Transformers' own implementation instead


def unlisted(name: str, release: Release) -> Unlisted | None:
    """What is known of a class the release certainly does not list; None where it may."""
    table = _table()
    index = table["first"].get(name)
    if index is None or release > _release(table["releases"][index - 1]):
        return None
    fallback = release > _release(table["releases"][table["fallback"] - 1])
    return Unlisted(table["releases"][index], fallback)


@cache
def _table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_CLASSES.read_text(encoding="utf-8"))
    return found


def _release(text: str) -> Release:
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return (numbers[0], numbers[1], numbers[2])
