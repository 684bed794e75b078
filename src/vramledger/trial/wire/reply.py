"""The response to one request, as far as it has come."""

from typing import TYPE_CHECKING, Final

from vramledger.trial.wire.chunks import BROKEN_ENDS, DONE, BadChunk, Chunk, read_chunk
from vramledger.trial.wire.events import (
    EventSplitter,
    LineTooLong,
    Shape,
    data_of,
    is_of_type_error,
    shape_of,
)
from vramledger.trial.wire.failures import of_error, of_error_event, of_http
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

_STREAM: Final = b"text/event-stream"
_PLAIN: Final = (b"", b"identity")
_OK: Final = 200


class Reply:
    """Fed by a connection with what it parsed; moments are nanoseconds of the monotonic clock, None for never.

    `failure` is the class of what went wrong, as far as the wire tells. `message` is the server's own text about
    it, for a person to read and never for a record. `on_end` is called once. With `keep_text` the answer's text is kept
    in `tally`, to be counted. `watch` is given the data of every event that is a chunk of the API.
    """

    __slots__ = (
        "_keeps_text", "_limits", "_shape", "_shape_end", "_shape_start", "_splitter", "_streaming", "_tell", "_watch", "date", "done_ns", "ended",
        "failure", "finished_ns", "first_byte_ns", "headers_ns", "message", "progress_ns", "request_id",
        "retry_after", "sent_ns", "status", "tally",
    )  # fmt: skip

    def __init__(
        self,
        limits: Limits,
        on_end: "Callable[[], None]",
        *,
        keep_text: bool = False,
        watch: "Callable[[bytes], None] | None" = None,
    ) -> None:
        self._limits, self._keeps_text, self._watch = limits, keep_text, watch
        self._tell = on_end
        self._splitter = EventSplitter(limits.line_bytes)
        self._shape: Shape | None = None
        self._shape_start = self._shape_end = b""
        self._streaming = False
        self.tally = Tally(keep_text=keep_text)
        self.sent_ns: int | None = None  # last byte handed to the kernel
        self.headers_ns: int | None = None
        self.first_byte_ns: int | None = None
        self.done_ns: int | None = None  # [DONE]
        self.finished_ns: int | None = None  # everything
        self.progress_ns = 0  # last time something whole came
        self.status: int | None = None
        self.request_id: str | None = None
        self.retry_after: str | None = None
        self.date = ""  # when the server says it answered so
        self.failure: str | None = None
        self.message = b""
        self.ended = False

    def head(self, status: int, headers: dict[bytes, bytes], now: int) -> None:
        """The status and the headers, their names in lower case, are there."""
        self.headers_ns = self.progress_ns = now
        self.status = status
        identity = headers.get(b"x-request-id")
        self.request_id = identity.decode("latin-1") if identity else None
        retry_after = headers.get(b"retry-after")
        if retry_after:
            self.retry_after = retry_after.decode("latin-1")
            self.date = headers.get(b"date", b"").decode("latin-1")
        if status != _OK:
            self.failure = of_http(status).name
        elif headers.get(b"content-encoding", b"").strip().lower() not in _PLAIN:
            self.failure = "encoded"
        elif headers.get(b"content-type", b"").split(b";")[0].strip().lower() != _STREAM:
            self.failure = "wrong_content_type"
        else:
            self._streaming = True

    def body(self, piece: bytes, now: int) -> None:
        """A piece of the body came."""
        if self.first_byte_ns is None:
            self.first_byte_ns = now
        shape = self._shape
        if (
            shape is not None
            and self.failure is None
            and not self._splitter.rest
            and piece.startswith(self._shape_start)
            and piece.endswith(self._shape_end)
            and shape.fits(piece[:-2])
        ):
            self._token(shape, now)
        elif self.failure is not None:
            self._complaint(piece)
        else:
            self._events(piece, now)

    def end(self, now: int, *, orderly: bool, cut: str = "closed_mid_stream") -> None:
        """No more will come: the response is complete (`orderly`), or the connection was lost (`cut` says how)."""
        if self.ended:
            return
        self.ended = True
        self.finished_ns = now
        if self._streaming and self.failure is None:
            self._end_of_stream(now, None if orderly else cut)
        self._tell()

    def fail(self, failure: str, now: int) -> None:
        """End it as a failure of that class; one that is known already stays."""
        self.failure = self.failure or failure
        self.end(now, orderly=False)

    @property
    def wants_no_more(self) -> bool:
        """Whether the rest of the response would change nothing."""
        if self.failure is None:
            return False
        return self.status == _OK or len(self.message) >= self._limits.error_bytes

    def _events(self, piece: bytes, now: int) -> None:
        try:
            blocks = self._splitter.feed(piece)
        except LineTooLong:
            self.failure = "line_too_long"
            return
        for block in blocks:
            self._event(block, now)

    def _event(self, block: bytes, now: int) -> None:
        shape = self._shape
        if shape is not None and shape.fits(block):
            self._token(shape, now)
            return
        if not block.strip(b"\n"):
            return
        self.progress_ns = now
        data = data_of(block)
        if data is None or self.failure is not None or self.done_ns is not None:
            return
        if is_of_type_error(block):
            self._error_event(data)
            return
        if data.strip() == DONE:
            self.done_ns = now
            self._shape = None  # nothing counts any more
            return
        try:
            chunk = read_chunk(data)
        except BadChunk as error:
            self.failure = error.failure
            return
        self._chunk(chunk, block, now)
        if self._watch is not None and chunk.error is None:
            self._watch(data)

    def _error_event(self, data: bytes) -> None:
        """An event of the type ``error``, which need not be put as the API puts errors."""
        try:
            told = read_chunk(data).error
        except BadChunk:
            told = None
        if told is None:
            self.failure = of_error_event(data.decode(errors="replace"))
            self.message = data[: self._limits.error_bytes]
        else:
            self._error(told)

    def _error(self, told: str) -> None:
        self.failure = of_error(told)
        self.message = told.encode(errors="replace")[: self._limits.error_bytes]

    def _chunk(self, chunk: Chunk, block: bytes, now: int) -> None:
        if chunk.error is not None:
            self._error(chunk.error)
            return
        self.tally.add(chunk, now)
        if (
            not self._keeps_text  # which a shape does not read
            and self._watch is None
            and chunk.text is not None
            and chunk.tokens is None
            and chunk.usage is None
            and chunk.finish is None
        ):
            text = chunk.text
            self._learn(shape_of(block, text.key.encode(), text.text, thinking=chunk.thinking))

    def _learn(self, shape: Shape | None) -> None:
        self._shape = shape
        if shape is not None:
            self._shape_start, self._shape_end = shape.prefix, shape.suffix + b"\n\n"

    def _token(self, shape: Shape, now: int) -> None:
        tally = self.tally
        tally.stamps.append(now)
        if tally.answer_ns is None and not shape.thinking:
            tally.answer_ns = now

    def _complaint(self, piece: bytes) -> None:
        if not self._streaming:
            self.message += piece[: self._limits.error_bytes - len(self.message)]

    def _end_of_stream(self, now: int, cut: str | None) -> None:
        rest = self._splitter.rest.strip()
        if rest:
            self._last_words(rest, now)
        if self.failure is not None or self.done_ns is not None:
            pass
        elif cut is not None:
            self.failure = cut
        elif self.tally.finish is None:
            self.failure = "no_done"
        if self.failure is None and self.tally.finish in BROKEN_ENDS:
            self.failure = "aborted"

    def _last_words(self, rest: bytes | bytearray, now: int) -> None:
        """An event without the blank line at its end: whole all the same, or half of one."""
        before = self.failure
        self._event(bytes(rest), now)
        if before is None and self.failure == "bad_json":
            self.failure = "half_json"
