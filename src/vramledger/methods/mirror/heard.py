"""An answer as a mirror hears it, from A's bytes on their way to the client or from B: what came, when, and how it ended."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import orjson

from vramledger.methods.mirror.said import Said
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.reply import Reply

_JSON: Final = b"application/json"
_PLAIN: Final = (b"", b"identity")
_OK: Final = 200
_MOST_BYTES: Final = 8 << 20  # of an answer that comes whole
TOO_LONG: Final = "too_long_to_compare"
UNREADABLE: Final = frozenset({TOO_LONG, "encoded", "line_too_long", "wrong_content_type"})


class Heard:
    """Hears of one response, streamed or whole. `on_end` is called once, when it has ended or was given up.

    `failure` is the class of what went wrong (`trial.wire.failures`), None where nothing did; those of `UNREADABLE` say that an
    answer came that is not compared. `key` is that of the digests.
    """

    def __init__(self, limits: Limits, key: bytes, on_end: Callable[[], None]) -> None:
        self._reply = Reply(limits, self._over, watch=self._event)
        self._said = Said(key)
        self._tell = on_end
        self._whole: bytearray | None = None
        self._whole_failure: str | None = None
        self._usage: int | None = None
        self._prompt: int | None = None
        self._finish = ""
        self.sent_ns: int | None = None
        self.slowed = False  # its client read slowly, so its times are not the server's
        self.given_up = False
        self.over = asyncio.Event()

    @property
    def failure(self) -> str | None:
        """The class of what went wrong."""
        return self._whole_failure or self._reply.failure

    @failure.setter
    def failure(self, failure: str | None) -> None:
        self._reply.failure = failure

    @property
    def headers_ns(self) -> int | None:
        """When the head came."""
        return self._reply.headers_ns

    @property
    def wants_no_more(self) -> bool:
        """Whether the rest would change nothing."""
        return self._whole_failure is not None or self._reply.wants_no_more

    @property
    def ended(self) -> bool:
        """Whether it has come to its end, or was given up."""
        return self.over.is_set()

    @property
    def said(self) -> Said:
        """Its words and tokens."""
        return self._said

    @property
    def status(self) -> int | None:
        """The HTTP status; None where there was no answer."""
        return self._reply.status

    @property
    def streamed(self) -> bool:
        """Whether it came as a stream of events."""
        return self._whole is None

    @property
    def finish(self) -> str:
        """Why it ended, as the server says; empty where it does not."""
        return self._finish if self._whole is not None else self._reply.tally.finish or ""

    @property
    def tokens(self) -> int | None:
        """Tokens of the answer by the server's own count or list; None where it tells neither."""
        if self._whole is None and self._usage is None and not self._said.tokens:
            found = self._reply.tally.timeline()
            return found.total if found.basis == "usage" else None
        return len(self._said.tokens) or None if self._usage is None else self._usage

    @property
    def prompt_tokens(self) -> int | None:
        """Tokens of the prompt, as the server counts them."""
        return self._prompt if self._whole is not None else self._reply.tally.prompt_tokens

    @property
    def e2e_s(self) -> float | None:
        """From the request's last byte to the answer's."""
        return self._since(self._reply.finished_ns)

    @property
    def ttft_s(self) -> float | None:
        """To the first event with text; None where it came whole."""
        stamps = self._reply.tally.stamps
        return self._since(stamps[0]) if stamps else None

    @property
    def gap_s(self) -> float | None:
        """Mean time between events with text; None below two."""
        stamps = self._reply.tally.stamps
        return (stamps[-1] - stamps[0]) / (len(stamps) - 1) / 1e9 if len(stamps) > 1 else None

    def head(self, status: int, headers: dict[bytes, bytes], now: int) -> None:
        """The status and the headers."""
        self._reply.head(status, headers, now)
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        plain = headers.get(b"content-encoding", b"").strip().lower() in _PLAIN
        if status == _OK and kind == _JSON and plain:
            self._reply.failure, self._whole = None, bytearray()

    def body(self, piece: bytes, now: int) -> None:
        """A piece of the body."""
        if self._whole is None:
            self._reply.body(piece, now)
        elif len(self._whole) + len(piece) > _MOST_BYTES:
            self._whole_failure = TOO_LONG
        else:
            self._whole += piece

    def end(self, now: int, *, orderly: bool, cut: str = "closed_mid_stream") -> None:
        """No more will come."""
        if self._whole is not None and self.failure is None:
            self._read_whole(orderly=orderly, cut=cut)
        self._reply.end(now, orderly=orderly, cut=cut)

    def fail(self, failure: str, now: int) -> None:
        """It ended as a failure of that class."""
        self._reply.fail(failure, now)

    def give_up(self) -> None:
        """Nobody wants it any more: its client has gone, or the other side is not to be compared."""
        if not self.ended:
            self.given_up = True
            self.over.set()
            self._tell()

    def _since(self, moment: int | None) -> float | None:
        known = moment is not None and self.sent_ns is not None
        return (moment - self.sent_ns) / 1e9 if known else None  # type: ignore[operator]  # both are there

    def _over(self) -> None:
        if self.ended:
            return
        self._said.end()
        if self._said.too_long and self.failure is None:
            self._whole_failure = TOO_LONG
        self.over.set()
        self._tell()

    def _event(self, data: bytes) -> None:
        """One chunk of a stream; that it is one is known."""
        choices = orjson.loads(data).get("choices")
        if isinstance(choices, list) and len(choices) == 1:
            self._said.choice(choices[0])

    def _read_whole(self, *, orderly: bool, cut: str) -> None:
        if not orderly:
            self._whole_failure = cut
            return
        try:
            document = orjson.loads(bytes(self._whole or b""))
        except orjson.JSONDecodeError:
            self._whole_failure = "bad_json"
            return
        self._whole = bytearray()
        choices = document.get("choices") if isinstance(document, dict) else None
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            self._whole_failure = "bad_chunk"
            return
        self._said.choice(choices[0])
        finish, usage = choices[0].get("finish_reason"), document.get("usage")
        self._finish = finish if isinstance(finish, str) else ""
        if isinstance(usage, dict):
            self._usage = _count(usage.get("completion_tokens"))
            self._prompt = _count(usage.get("prompt_tokens"))


def _count(found: Any) -> int | None:
    return found if type(found) is int and found >= 0 else None
