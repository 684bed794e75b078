"""An answer on its way: tokens from the engine become pieces of a response."""

from http import HTTPStatus

from vramledger.frozen import frozen
from vramledger.rehearse.answers import Answer
from vramledger.rehearse.api.asked import Asked
from vramledger.rehearse.api.chunks import DONE, Chunks, Piece, Usage
from vramledger.rehearse.faults.fault import Style
from vramledger.rehearse.http.connection import Connection
from vramledger.rehearse.http.heads import EVENTS, JSON, head
from vramledger.rehearse.http.sink import Sink


@frozen
class Plan:
    """What is answered, and in which form."""

    asked: Asked
    answer: Answer
    chunks: Chunks
    style: Style


class Answering:
    """Told of the tokens of one request; writes them as a stream, or as one body at the end."""

    def __init__(self, plan: Plan, connection: Connection, sink: Sink) -> None:
        self._plan, self._connection, self._sink = plan, connection, sink
        self._ready = self._sent = 0  # tokens

    @property
    def finish(self) -> str:
        """Why it ends."""
        return self._plan.answer.finish

    @property
    def max_tokens(self) -> int:
        """The most tokens it asked for."""
        return self._plan.asked.max_tokens

    def begin(self) -> None:
        """The request was accepted: a stream's head is sent."""
        if self._plan.asked.stream:
            self._connection.write(head(HTTPStatus.OK, EVENTS, None))
            if self._plan.style.role_early:
                self._role()

    def tokens(self, count: int, now: int, *, last: bool) -> None:
        """So many more tokens."""
        del now
        self._ready += count
        if not self._plan.asked.stream:
            if last:
                self._whole()
            return
        if last or self._ready - self._sent >= self._plan.style.tokens_per_chunk:
            self._piece(last=last)
        if last:
            self._end()

    def _piece(self, *, last: bool) -> None:
        plan, answer = self._plan, self._plan.answer
        if not self._sent and not plan.style.role_early:
            self._role()
        count, texts = self._ready - self._sent, answer.texts[self._sent : self._ready]
        self._sent = self._ready
        usage = self._usage() if plan.asked.usage_always and plan.style.usage else None
        finish, stop = (answer.finish, answer.stop) if last else (None, None)
        self._sink.write(plan.chunks.content(Piece(texts, finish, stop, usage)), count)

    def _role(self) -> None:
        role = self._plan.chunks.role()
        if role is not None:
            self._sink.write(role, 0)

    def _end(self) -> None:
        wanted = self._plan.asked.usage and self._plan.style.usage
        usage = self._plan.chunks.usage(self._usage()) if wanted else b""
        self._sink.write(usage + DONE, 0)
        self._sink.finish()

    def _whole(self) -> None:
        body = self._plan.chunks.whole(self._plan.answer, self._usage())
        self._connection.write(head(HTTPStatus.OK, JSON, len(body)))
        self._sink.write(body, self._ready)
        self._sink.finish()

    def _usage(self) -> Usage:
        return Usage(len(self._plan.asked.prompt), self._ready)
