"""Prompts out of a file of the user: JSON lines, each with a prompt or with messages.

A line is ``{"prompt": "text"}`` or ``{"messages": [{"role": ..., "content": ...}, ...]}``; a line may also be a JSON
string, which is a prompt. Lengths of answers and times stay those of the workload.
"""

import json
import mmap
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.trial.prompts.body import CHAT, BodyMaker

_REMEDY: Final = '{"prompt": "text"} or {"messages": [{"role": "user", "content": "text"}]}'


class OwnPrompts:
    """The prompts of a file; request n gets prompt n modulo their number."""

    def __init__(self, path: Path, endpoint: str) -> None:
        """Open the file and find its lines.

        Raises:
            BadInput: no such file, or no prompt in it.
        """
        self._path, self._endpoint = path, endpoint
        self._lines = _lines(path)

    def __len__(self) -> int:
        return len(self._lines)

    def body(self, number: int, output_tokens: int, maker: BodyMaker) -> bytes:
        """The body with the prompt of request `number`.

        Raises:
            BadInput: the line holds no prompt, or one that the endpoint does not take.
        """
        place = number % len(self._lines)
        found = self._prompt(place)
        if isinstance(found, str):
            return maker.with_text(json.dumps(found)[1:-1].encode(), output_tokens)
        if self._endpoint != CHAT:
            raise BadInput(
                f"{self._path}, line {self._lines.line(place)}: it holds messages, and a completion takes a text; "
                "send to the chat endpoint."
            )
        return maker.with_messages(json.dumps(found).encode(), output_tokens)

    def prompt(self, number: int) -> str | list[Any]:
        """The text or the messages of request `number`.

        Raises:
            BadInput: the line holds no prompt.
        """
        return self._prompt(number % len(self._lines))

    def check(self) -> None:
        """Read every line once.

        Raises:
            BadInput: as `body`.
        """
        for place in range(len(self)):
            self._prompt(place)

    def _prompt(self, place: int) -> str | list[Any]:
        try:
            found = json.loads(self._lines[place])
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            found = found.get("messages", found.get("prompt"))
        if isinstance(found, str) and found:
            return found
        if isinstance(found, list) and found and all(isinstance(each, dict) for each in found):
            return found
        raise BadInput(
            f"{self._path}, line {self._lines.line(place)}: no prompt; write {_REMEDY} in each line."
        )


class _Lines:
    """The lines of a file that are not blank, without holding them in memory."""

    def __init__(self, data: "mmap.mmap | bytes", spans: list[tuple[int, int, int]]) -> None:
        self._data, self._spans = data, spans

    def __len__(self) -> int:
        return len(self._spans)

    def __getitem__(self, place: int) -> bytes:
        start, end, _ = self._spans[place]
        return bytes(self._data[start:end])

    def line(self, place: int) -> int:
        """Its number in the file, from 1."""
        return self._spans[place][2]


def _lines(path: Path) -> _Lines:
    try:
        with path.open("rb") as file:
            data = (
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
            )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(
            f"{path} cannot be read: {why}; give a file of prompts, one a line."
        ) from None
    spans, start, number = [], 0, 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if data[start:end].strip():
            spans.append((start, end, number))
        start, number = end + 1, number + 1
    if not spans:
        raise BadInput(f"{path} holds no prompt; write {_REMEDY} in each line.")
    return _Lines(data, spans)
