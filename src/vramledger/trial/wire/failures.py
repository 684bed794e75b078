"""Every way in which a request can end badly: its class in the record, its outcome, and what to tell people.

A class never holds the server's own text. Which outcome a class has follows three rules. Where no response
came, the request has failed, or timed out where it was a limit of ours. Where the server said that something
is wrong, its HTTP status decides as in every other table (`record.outcome`). Where a stream had begun and ended
before its answer did, however cleanly, the request is incomplete.
"""

from typing import Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome, of_status


@frozen
class FailureClass:
    """One row: the name that stands in error_class, the outcome it means, a sentence with the remedy."""

    name: str
    outcome: Outcome
    sentence: str


def _row(name: str, outcome: Outcome, sentence: str) -> FailureClass:
    return FailureClass(name, outcome, sentence)


_F, _I, _R, _T = Outcome.FAILED, Outcome.INCOMPLETE, Outcome.REJECTED, Outcome.TIMED_OUT

_WIRE: Final = (
    _row("dns", _F, "The server's name could not be resolved; check the host in the address."),
    _row("connect_refused", _F, "Nothing listens at the address; start the server or correct the port."),
    _row("connect_timeout", _T, "No connection came about in time; the server's backlog is full, or a firewall drops packets."),
    _row("unreachable", _F, "There is no way to the server's address; check the network and the proxy."),
    _row("tls", _F, "TLS could not be agreed on; check the certificate, its authority and the host's name."),
    _row("proxy", _F, "The proxy would not open a tunnel to the server; check its address and rights."),
    _row("no_sockets", _F, "This machine has no more sockets or ports for the client; raise `ulimit -n` or spread the client."),
    _row("reset", _F, "The server cut the connection before it answered; look for a crash or a limit in its log."),
    _row("closed_early", _F, "The server closed the connection without an answer; look for a crash or a limit in its log."),
    _row("no_http", _F, "What came back is not HTTP/1.1; the address is that of another kind of server."),
    _row("line_feeds_alone", _F, "The lines of the response's head end in LF alone, where HTTP has CR LF; the server or a proxy is broken."),
    _row("two_lengths", _F, "The response's head states Content-Length twice, or beside Transfer-Encoding, so nobody can say where its body ends; a proxy adds one, or the server is broken."),
    _row("bad_head", _F, "The response begins as HTTP/1.1, and then its head breaks the rules of HTTP; the server or a proxy is broken."),
    _row("endless_head", _F, "The response's headers go on beyond the limit; something other than an API server answers there."),
    _row("bad_chunking", _F, "The response's body is framed wrongly; a proxy in between or the server is broken."),
    _row("line_too_long", _F, "A line of the stream is longer than the limit; the server or a proxy sends something else than events."),
    _row("wrong_content_type", _F, "The server answered 200 with something else than a stream of events; check the path and that it can stream."),
    _row("encoded", _F, "The response is compressed although that was not asked for; switch compression off in the proxy."),
    _row("bad_json", _F, "An event of the stream is not valid JSON; the server or a proxy garbles its stream."),
    _row("bad_chunk", _F, "An event of the stream is not one of the OpenAI API; the address is that of another API."),
    _row("half_json", _I, "The stream ended in the middle of an event; the server or a proxy gave up on it."),
    _row("error_in_stream", _F, "The server reported an error inside a stream that had begun well; its log says why."),
    _row("error_event", _F, "The server sent an event of the type `error` inside a stream that had begun well, in a form of its own; its log says why."),
    _row("kv_cache_full", _F, "The server's KV cache was full and it ended the answer, having no preemption; give it a larger context (llama.cpp: -c) or fewer requests at once."),
    _row("closed_mid_stream", _I, "The server closed the stream before its answer was complete; look for a restart or a proxy's time limit."),
    _row("reset_mid_stream", _I, "The connection was cut in the middle of a stream; look for a crash or a restart in the server's log."),
    _row("no_done", _I, "The stream ended without a finish reason and without [DONE]; the server or a proxy gave up on it."),
    _row("aborted", _I, "The server ended the answer with the reason `abort` or `error`; its log says why."),
    _row("too_short", _I, "The answer ended before the length that was asked for; the server ignored ignore_eos or min_tokens, or a limit cut it."),
    _row("too_long", _F, "The answer has more tokens than were asked for, by the server's own count; it ignores max_tokens, or its usage is wrong, and no figure by tokens can rest on it."),
    _row("stalled", _T, "No byte came for the time allowed; the server hangs, or its queue is longer than that."),
    _row("slow_drip", _T, "Bytes came, but no whole event for the time allowed; something in between holds them back."),
    _row("request_timeout", _T, "The request took longer than a request may take here."),
    _row("client_timeout", _T, "The workload's client waits no longer than this, and the answer was not complete."),
    _row("run_ended", _I, "The run ended while the request was under way."),
)  # fmt: skip

_STATUSES: Final = {
    300: "The server redirects elsewhere, which is never followed; give the final address.",
    400: "The server found fault with the request; its message says with what.",
    401: "The server did not accept the API key; it is missing, wrong or expired.",
    403: "The API key has no right to this; use another or ask for the right.",
    404: "The server knows no such path or model; check the address and the model's name.",
    408: "The server gave up waiting for the request.",
    413: "The request is larger than the server or a proxy accepts.",
    422: "The server could not make sense of the request's fields.",
    429: "The server or a gateway limits the rate, and says when to come back where it does.",
    500: "The server failed on the request; its log says why.",
    502: "A gateway got no proper answer from the server behind it.",
    503: "The server is overloaded, starting or stopping, and says when to come back where it does.",
    504: "A gateway gave up waiting for the server behind it.",
}
# What engines say in a stream when the cache is full; llama.cpp's unified pool fails every running request then
# (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-context.cpp).
_CACHE_FULL: Final = ("context size has been exceeded",)
_REDIRECT: Final = range(300, 400)
_OTHER: Final = "The server answered with a status that the API does not have."

FAILURES: Final = {each.name: each for each in _WIRE}


def of_error(message: str) -> str:
    """The class of an error that a server reports inside a stream, by its message."""
    told = message.casefold()
    return "kv_cache_full" if any(each in told for each in _CACHE_FULL) else "error_in_stream"


def of_error_event(data: str) -> str:
    """The class of an event of the type ``error`` whose data are no error of the API."""
    found = of_error(data)
    return "error_event" if found == "error_in_stream" else found


def of_bad_head(complaint: str) -> str:
    """The class of a head that begins as HTTP's does, by the parser's complaint about what follows."""
    if "expected CR" in complaint:
        return "line_feeds_alone"
    return "two_lengths" if "Content-Length" in complaint else "bad_head"


def of_http(status: int) -> FailureClass:
    """The class of a response that is no success: `redirect`, or `http_` and the status."""
    if status in _REDIRECT:
        return FailureClass("redirect", Outcome.REJECTED, _STATUSES[300])
    return FailureClass(f"http_{status}", _worse(of_status(status)), _STATUSES.get(status, _OTHER))


def _worse(outcome: Outcome) -> Outcome:
    """A response that we cannot use never counts as one that ended well or of our own will."""
    return (
        Outcome.FAILED if outcome in (Outcome.OK, Outcome.UNKNOWN, Outcome.CANCELLED) else outcome
    )


def named(error_class: str) -> FailureClass:
    """The row of a class as it stands in a record.

    Raises:
        KeyError: there is none.
    """
    if error_class in FAILURES:
        return FAILURES[error_class]
    if error_class == "redirect":
        return of_http(300)
    kind, _, status = error_class.partition("_")
    if kind != "http" or not status.isdigit():
        raise KeyError(error_class)
    return of_http(int(status))
