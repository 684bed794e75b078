"""How long the audio is that a prompt holds as base64."""

import base64
import binascii
from typing import Any, Final

_HEADER: Final = 44  # bytes of a WAV file with one format and one data chunk
_ENCODED: Final = 60  # characters of base64 that hold them
_NS: Final = 10**9


def audio_ns(part: Any) -> int | None:
    """The length of an "input_audio" part of a message; None for formats other than WAV.

    Of PCM audio the header tells the bytes a second, and the size of the text the bytes
    (http://soundfile.sapp.org/doc/WaveFormat/). Nothing but the header is decoded.
    """
    inner = part.get("input_audio", part.get("audio")) if isinstance(part, dict) else None
    data = inner.get("data") if isinstance(inner, dict) else None
    if not isinstance(data, str) or len(data) <= _ENCODED:
        return None
    try:
        header = base64.b64decode(data[:_ENCODED], validate=True)
    except (binascii.Error, ValueError):
        return None  # cut, as gateways do with long fields, or no base64
    rate = int.from_bytes(header[28:32], "little")
    if header[:4] != b"RIFF" or header[8:16] != b"WAVEfmt " or not rate:
        return None
    size = len(data) * 3 // 4 - data[-2:].count("=") - _HEADER
    return size * _NS // rate
