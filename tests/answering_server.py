"""A server on this machine whose answers a test writes down: tokens by prompt, with what it held likely beside each."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from typing import Any


@dataclass(frozen=True)
class Scripted:
    """An answer: its tokens, how it ends, and the chances of the next token by its text at each place, if told."""

    tokens: Sequence[str]
    finish: str = "length"
    chances: Sequence[Mapping[str, float]] = ()
    status: int = 200
    prompt_tokens: int = 7


Script = Callable[[str], Scripted]


@dataclass
class Answering:
    """A server that runs. `asked` holds every body, `keys` what it was let in with."""

    url: str
    script: Script
    model: str = "made-up"
    logprobs: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answering: Answering

    def do_GET(self) -> None:
        models = {"data": [{"id": self.answering.model, "max_model_len": 4096}]}
        self._send(200 if self.path == "/v1/models" else 404, models)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answering.asked.append(body)
        self.answering.keys.append(self.headers.get("Authorization"))
        chat = self.path.endswith("/chat/completions")
        prompt = body["messages"][-1]["content"] if chat else body["prompt"]
        said = self.answering.script(prompt)
        self._send(said.status, _answer(said, chat=chat, logprobs=self.answering.logprobs))

    def _send(self, status: int, content: Mapping[str, Any]) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        with suppress(ConnectionError):  # whoever asked may have gone
            self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Silent."""


def _answer(said: Scripted, *, chat: bool, logprobs: bool) -> dict[str, Any]:
    text = "".join(said.tokens)
    choice: dict[str, Any] = {"index": 0, "finish_reason": said.finish, "logprobs": None}
    choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    if logprobs:
        choice["logprobs"] = _chat_logprobs(said) if chat else _text_logprobs(said)
    usage = {"prompt_tokens": said.prompt_tokens, "completion_tokens": len(said.tokens)}
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


def _chat_logprobs(said: Scripted) -> dict[str, Any]:
    return {"content": [
        {"token": token, "bytes": list(token.encode()), "logprob": log(_of(said, place).get(token, 0.05)),
         "top_logprobs": [{"token": name, "bytes": list(name.encode()), "logprob": log(p)} for name, p in _of(said, place).items()]}
        for place, token in enumerate(said.tokens)
    ]}  # fmt: skip


def _text_logprobs(said: Scripted) -> dict[str, Any]:
    places = range(len(said.tokens))
    return {
        "tokens": list(said.tokens),
        "token_logprobs": [log(_of(said, p).get(said.tokens[p], 0.05)) for p in places],
        "top_logprobs": [
            {name: log(p) for name, p in _of(said, place).items()} for place in places
        ],
        "text_offset": [0] * len(said.tokens),
    }


def _of(said: Scripted, place: int) -> Mapping[str, float]:
    return said.chances[place] if place < len(said.chances) else {}


@contextmanager
def answering(script: Script, **settings: Any) -> Iterator[Answering]:
    """A server on a port of its own, until the block ends."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    running = Answering(f"http://127.0.0.1:{server.server_address[1]}", script, **settings)
    handler.answering = running  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
