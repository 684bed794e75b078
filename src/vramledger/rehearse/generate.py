"""A request for an answer: from its body to the engine, and back as it comes."""

import time
from typing import TYPE_CHECKING

from vramledger.rehearse.answering import Answering, Plan
from vramledger.rehearse.answers import Answer, drawn_answer
from vramledger.rehearse.api.asked import Asked, asked_of
from vramledger.rehearse.api.body import parsed
from vramledger.rehearse.api.chunks import ChatChunks, Chunks, Identity, TextChunks
from vramledger.rehearse.http.connection import Connection
from vramledger.rehearse.http.request import HttpRequest
from vramledger.rehearse.http.sink import BodySink
from vramledger.rehearse.live.driver import Driver
from vramledger.rehearse.live.ticket import Ticket
from vramledger.rehearse.text.blocks import block_names
from vramledger.rehearse.truth import Truth
from vramledger.simulate.request import Arrival

if TYPE_CHECKING:
    from vramledger.rehearse.server import Server


def generate(server: "Server", connection: Connection, request: HttpRequest, *, chat: bool) -> None:
    """Answer a request; it is refused before the engine hears of it, or served.

    Raises:
        Refusal: what is answered instead.
    """
    number = server.next_number()
    refusal = server.faults.refusal(number)
    if refusal is not None:
        raise refusal
    asked = asked_of(parsed(request.body), server.served, chat=chat)
    answer = drawn_answer(asked, server.seed, number, server.subject.lengths.output)
    request_id = request.headers.get("x-request-id") or f"{server.life_id}-{number}"
    identity = Identity(
        f"{'chatcmpl' if chat else 'cmpl'}-{request_id}", int(time.time()), asked.model
    )
    truth = Truth(server.truth_file, identity.request_id, number, request.received_ns)
    sink = BodySink(connection, truth, chunked=asked.stream)
    kind: type[ChatChunks | TextChunks] = ChatChunks if chat else TextChunks
    chunks: Chunks = kind(identity, logprobs=asked.logprobs)
    answering = Answering(
        Plan(asked, answer, chunks, server.faults.style),
        connection,
        server.faults.in_front(sink, number, len(answer.tokens)),
    )
    ticket = _ticket(server, asked, answer, number, request.received_ns, answering)
    truth.expect(ticket)
    driver = server.life.driver
    connection.on_gone = lambda: _gone(driver, ticket, truth)
    answering.begin()
    driver.submit(ticket)


def _ticket(
    server: "Server",
    asked: Asked,
    answer: Answer,
    number: int,
    received_ns: int,
    answering: Answering,
) -> Ticket:
    """The request as the engine sees it, behind the front's time."""
    subject, life = server.subject, server.life
    received = life.clock.simulated(received_ns)
    count = len(asked.prompt)
    front = subject.front_ns + round(subject.front_ns_per_token * count)
    names = (
        block_names((*asked.prompt, *answer.tokens), subject.settings.block_size, asked.salt)
        if subject.settings.prefix_caching
        else ()
    )
    arrival = Arrival(
        max(received + front, life.driver.earliest_ns),
        count,
        len(answer.tokens),
        names,
        priority=asked.priority,
    )
    return Ticket(number, received, arrival, answering)


def _gone(driver: Driver, ticket: Ticket, truth: Truth) -> None:
    """The client went away before it had its answer."""
    truth.close(ending="gone")
    driver.leave(ticket)
