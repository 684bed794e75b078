"""What single messages of a conversation hold: texts, images, audio."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from vramledger.workload.formats.parts.audio import audio_ns

_OWN: Final = ("reasoning_content", "reasoning", "text")
_TEXT_KEYS: Final = ("text", "content", "thinking", "reasoning", "refusal")
_IMAGE_TYPES: Final = ("image", "image_url", "input_image", "image_pil")
_AUDIO_TYPES: Final = ("input_audio", "audio", "audio_url")


class Gathered:
    """The contents of messages, in order."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.images = 0
        self._audio: list[int | None] = []  # nanoseconds of each piece; None where unknown

    @property
    def audio_ns(self) -> int | None:
        """The length of all audio; None where there is none, or any of unknown length."""
        known = [length for length in self._audio if length is not None]
        return sum(known) if known and len(known) == len(self._audio) else None

    def add(self, message: Mapping[str, Any]) -> None:
        """Add one message, or an answer that has the shape of one."""
        self.texts.extend(message[key] for key in _OWN if isinstance(message.get(key), str))
        content = message.get("content", message.get("parts"))
        if isinstance(content, str):
            self.texts.append(content)
        elif isinstance(content, list):
            for part in content:
                self._add_part(part)
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            self.texts.extend(_functions(calls))

    def _add_part(self, part: Any) -> None:
        if isinstance(part, str):
            self.texts.append(part)
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind in _IMAGE_TYPES:
                self.images += 1
            elif kind in _AUDIO_TYPES:
                self._audio.append(audio_ns(part))
            else:
                self.texts.extend(part[key] for key in _TEXT_KEYS if isinstance(part.get(key), str))


def _functions(calls: list[Any]) -> Iterable[str]:
    """Calls of tools are written by the model, so they are tokens too."""
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = function.get("arguments")
            said = arguments if isinstance(arguments, str) else json.dumps(arguments)
            yield f"{function.get('name', '')} {said}"
