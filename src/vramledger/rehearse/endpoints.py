"""What the server answers by method and path; a row each."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import orjson

from vramledger.frozen import frozen
from vramledger.rehearse.api.asked import refuse_model
from vramledger.rehearse.api.body import parsed, value
from vramledger.rehearse.api.prompts import chat_prompt
from vramledger.rehearse.api.refusal import Refusal
from vramledger.rehearse.generate import generate
from vramledger.rehearse.http.connection import Connection
from vramledger.rehearse.http.heads import JSON, head
from vramledger.rehearse.http.request import HttpRequest
from vramledger.rehearse.metrics.page import CONTENT_TYPE
from vramledger.rehearse.text.tokenizer import SIZE, decode, encode, text_of

if TYPE_CHECKING:
    from vramledger.rehearse.server import Server

OWNER: Final = "vramledger-rehearsal"
_BYTES: Final = 256


@frozen
class Reply:
    """A response that is there at once."""

    body: bytes = b""
    content_type: str | None = None
    status: HTTPStatus = HTTPStatus.OK
    headers: tuple[tuple[str, str], ...] = ()


Endpoint = Callable[["Server", Connection, HttpRequest], Reply | None]  # None: it answers later


def reply_to(server: "Server", connection: Connection, request: HttpRequest) -> Reply | None:
    """What is answered, None where the answer comes later."""
    methods = ENDPOINTS.get(request.path)
    if methods is None:
        return _json({"detail": "Not Found"}, HTTPStatus.NOT_FOUND)
    if request.method not in methods:
        return _json({"detail": "Method Not Allowed"}, HTTPStatus.METHOD_NOT_ALLOWED)
    try:
        return methods[request.method](server, connection, request)
    except Refusal as refusal:
        return Reply(refusal.body, JSON, refusal.status, refusal.headers)
    except Exception as error:  # noqa: BLE001 - nothing that a client sends may end the server
        server.say(
            f"A request to {request.path} met a defect ({type(error).__name__}: {error}) and was answered with 500; "
            "please report it."
        )
        defect = Refusal("A defect of the rehearsal server.", HTTPStatus.INTERNAL_SERVER_ERROR)
        return Reply(defect.body, JSON, defect.status)


def send(connection: Connection, reply: Reply, method: str = "GET") -> None:
    """Write a reply, whole; HEAD is answered by the head alone (RFC 9110, 9.3.2)."""
    parts = head(reply.status, reply.content_type, len(reply.body), reply.headers)
    connection.write(parts if method == "HEAD" else parts + reply.body)
    connection.finished()


def _chat(server: "Server", connection: Connection, request: HttpRequest) -> None:
    generate(server, connection, request, chat=True)


def _completions(server: "Server", connection: Connection, request: HttpRequest) -> None:
    generate(server, connection, request, chat=False)


def _health(server: "Server", connection: Connection, request: HttpRequest) -> Reply:
    del server, connection, request
    return Reply()


def _version(server: "Server", connection: Connection, request: HttpRequest) -> Reply:
    del connection, request
    return _json({"version": server.subject.version})


def _models(server: "Server", connection: Connection, request: HttpRequest) -> Reply:
    del connection, request
    root = server.subject.deployment.launch.model
    cards = [
        {
            "id": name,
            "object": "model",
            "created": server.created,
            "owned_by": OWNER,
            "root": root,
            "parent": None,
            "max_model_len": server.subject.settings.max_model_len,
        }
        for name in server.served.model_names
    ]
    return _json({"object": "list", "data": cards})


def _metrics(server: "Server", connection: Connection, request: HttpRequest) -> Reply:
    del connection, request
    if server.metrics_gone:
        return _json({"detail": "Not Found"}, HTTPStatus.NOT_FOUND)
    return Reply(server.life.metrics(), CONTENT_TYPE)


def _tokenize(server: "Server", connection: Connection, request: HttpRequest) -> Reply:
    del connection
    body = parsed(request.body)
    refuse_model(value(body, "model", str, server.served.model_names[0]), server.served)
    chat = body.get("messages") is not None
    tokens = chat_prompt(body) if chat else encode(value(body, "prompt", str, ""))
    texts = value(body, "return_token_strs", bool, default=False)
    return _json(
        {
            "count": len(tokens),
            "max_model_len": server.subject.settings.max_model_len,
            "tokens": tokens,
            "token_strs": [_token_text(token) for token in tokens] if texts else None,
        }
    )


def _detokenize(server: "Server", connection: Connection, request: HttpRequest) -> Reply:
    del connection
    body = parsed(request.body)
    refuse_model(value(body, "model", str, server.served.model_names[0]), server.served)
    tokens = value(body, "tokens", list, [])
    most = max(server.served.vocabulary, SIZE)
    if not all(type(token) is int and 0 <= token < most for token in tokens):
        raise Refusal(f"tokens must be numbers from 0 to {most - 1}.", param="tokens")
    return _json({"prompt": decode(tokens)})


def _reset(server: "Server", connection: Connection, request: HttpRequest) -> Reply:
    """As vLLM, which answers alike whether blocks were held and nothing was done."""
    del connection, request
    server.life.forget_prefixes()
    return Reply()


def _token_text(token: int) -> str:
    return decode((token,)) if token < _BYTES else text_of(token)


def _json(content: Any, status: HTTPStatus = HTTPStatus.OK) -> Reply:
    return Reply(orjson.dumps(content), JSON, status)


ENDPOINTS: Final[dict[str, dict[str, Endpoint]]] = {
    "/v1/chat/completions": {"POST": _chat},
    "/v1/completions": {"POST": _completions},
    "/v1/models": {"GET": _models},
    "/version": {"GET": _version},
    "/health": {"GET": _health},
    "/metrics": {"GET": _metrics},
    "/tokenize": {"POST": _tokenize},
    "/detokenize": {"POST": _detokenize},
    "/reset_prefix_cache": {"POST": _reset},
}
