"""JSON text of any length, decoded value by value."""

import json
import re
from codecs import getincrementaldecoder
from typing import Any, Final

from vramledger.workload.framing.framed import CUT_OFF, MOST_BYTES, NOT_JSON, TOO_LONG
from vramledger.workload.opener import CHUNK, LogStream

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_NEXT_OBJECT: Final = re.compile(r"[,\n\]\[]\s*(?=\{)")
_SURROGATE: Final = re.compile(r"[\udc80-\udcff]")
_LONGEST_LITERAL: Final = 12  # -Infinity and half a \uXXXX: an error so near the end may be a cut
_UNTERMINATED: Final = "Unterminated string"


class NotJson(Exception):
    """What stands at the place is no JSON, or more of it than the bound."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class JsonText:
    """The text of a stream from the place that was reached."""

    def __init__(self, stream: LogStream) -> None:
        self._chunks = iter(stream)
        self._decode = getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._scan = json.JSONDecoder().raw_decode
        self.text, self.at, self.line = "", 0, 1
        self.has_bad_bytes = False  # whether some were not UTF-8; they became lone surrogates
        self._ended = False

    def more(self) -> bool:
        """Read on, at least as much as is held; False at the end of the stream."""
        held = self.text[self.at :]
        pieces, size = [held], 0
        while size < max(CHUNK, len(held)) and not self._ended:
            chunk = next(self._chunks, b"")
            self._ended = not chunk
            piece = self._decode(chunk, final=self._ended)
            self.has_bad_bytes = self.has_bad_bytes or _SURROGATE.search(piece) is not None
            pieces.append(piece)
            size += len(chunk)
        self.text, self.at = "".join(pieces), 0
        return size > 0

    def go_to(self, place: int) -> None:
        self.line += self.text.count("\n", self.at, place)
        self.at = place

    def next_sign(self) -> str:
        """The next character that is not space, "" at the end; the place is moved to it."""
        while True:
            end = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            self.go_to(end)
            if end < len(self.text):
                return self.text[end]
            if not self.more():
                return ""

    def take(self, sign: str) -> bool:
        """Move past this character where it comes next."""
        found = self.next_sign() == sign
        if found:
            self.go_to(self.at + 1)
        return found

    def value(self) -> Any:
        """The value at the place, which is moved past it.

        Raises:
            NotJson: there is none, or it is cut off by the end.
        """
        while True:
            try:
                found, end = self._scan(self.text, self.at)
            except RecursionError:
                raise NotJson(NOT_JSON) from None
            except json.JSONDecodeError as error:
                self._read_on(error)
                continue
            except ValueError:  # a number of thousands of digits
                raise NotJson(NOT_JSON) from None
            if end == len(self.text) and isinstance(found, int | float) and self.more():
                continue  # the digits may go on
            self.go_to(end)
            return found

    def next_key(self) -> str | None:
        """The next key of the object that was entered, the place after its colon; None at its end.

        Raises:
            NotJson: something else stands there.
        """
        self.take(",")
        if self.take("}"):
            return None
        key = self.value() if self.next_sign() == '"' else None
        if not isinstance(key, str) or not self.take(":"):
            raise NotJson(CUT_OFF if not self.next_sign() else NOT_JSON)
        self.next_sign()
        return key

    def _read_on(self, error: json.JSONDecodeError) -> None:
        """Read more where that can mend the error."""
        cut = error.msg.startswith(_UNTERMINATED) or error.pos >= len(self.text) - _LONGEST_LITERAL
        if cut and len(self.text) - self.at > MOST_BYTES:
            raise NotJson(TOO_LONG)
        if not cut or not self.more():
            raise NotJson(CUT_OFF if cut else NOT_JSON)

    def skip_to_object_like(self, keys: set[str]) -> bool:
        """Move to the next object that is JSON and shares half of these keys; False: there is none."""
        while len(self.text) - self.at < MOST_BYTES and self.more():
            pass
        for found in _NEXT_OBJECT.finditer(self.text, self.at + 1):
            try:
                value, _ = self._scan(self.text, found.end())
            except (ValueError, RecursionError):
                continue
            if len(value.keys() & keys) * 2 >= len(keys):
                self.go_to(found.end())
                return True
        return False
