"""A server of a little language model, whose every probability a test knows, in the words of vLLM 0.32.

A token is a number below `SIZE`; what comes next depends on the last one alone. Answers are greedy and as long as asked for.
"""

import itertools
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from typing import Any

SIZE = 12


@dataclass
class LittleModel:
    """`table[last][next]` is a probability; `asked` holds every body. `shift` is added to the numbers of a prompt's tokens."""

    table: Sequence[Sequence[float]]
    shift: int = 0
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def prompt_ids(self, text: str) -> list[int]:
        return [(byte + self.shift) % SIZE for byte in text.encode()]

    def answer(self, prompt: Sequence[int], count: int) -> list[int]:
        ids = list(prompt)
        for _ in range(count):
            row = self.table[ids[-1]]
            ids.append(max(range(SIZE), key=lambda token: (row[token], -token)))
        return ids[len(prompt) :]

    def likely(self, last: int, own: int, top: int) -> dict[int, float]:
        """The own token and the likeliest ones."""
        row = self.table[last]
        best = sorted(range(SIZE), key=lambda token: -row[token])[:top]
        return {token: log(row[token]) for token in (own, *best)}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: LittleModel

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._send({"data": [{"id": "little", "owned_by": "vllm", "max_model_len": 4096}]})
        elif self.path == "/version":
            self._send({"version": "0.32.0"})
        else:
            self._send({}, 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.model.asked.append(body)
        chat = self.path.endswith("/chat/completions")
        given = body["messages"][-1]["content"] if chat else body["prompt"]
        prompt = self.model.prompt_ids(given) if isinstance(given, str) else given
        self._send(self._answer(body, prompt, chat=chat))

    def _answer(
        self, body: Mapping[str, Any], prompt: Sequence[int], *, chat: bool
    ) -> dict[str, Any]:
        ids = self.model.answer(prompt, body["max_tokens"])
        text = "".join(f" t{each}" for each in ids)
        choice: dict[str, Any] = {"index": 0, "finish_reason": "length", "token_ids": ids}
        choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        if chat:
            choice["logprobs"] = self._chat_logprobs(prompt[-1], ids, body["top_logprobs"])
        if "prompt_logprobs" in body:
            choice["prompt_logprobs"] = [None, *self._of_prompt(prompt, body["prompt_logprobs"])]
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(ids)}
        return {"choices": [choice], "usage": usage, "prompt_token_ids": prompt}

    def _chat_logprobs(self, last: int, ids: Sequence[int], top: int) -> dict[str, Any]:
        """The chosen token with the bytes of its text, the others with those of their numbers, as vLLM 0.32 tells them."""
        content = []
        for before, own in zip((last, *ids), ids, strict=False):
            likely = self.model.likely(before, own, top)
            content.append({
                "token": f"token_id:{own}", "bytes": list(f" t{own}".encode()), "logprob": likely[own],
                "top_logprobs": [
                    {"token": f"token_id:{each}", "bytes": list(f"token_id:{each}".encode()), "logprob": p}
                    for each, p in likely.items()
                ],
            })  # fmt: skip
        return {"content": content}

    def _of_prompt(self, prompt: Sequence[int], top: int) -> list[dict[str, Any]]:
        return [
            {str(token): {"logprob": p, "rank": 1, "decoded_token": f" t{token}"} for token, p in self.model.likely(last, own, top).items()}
            for last, own in itertools.pairwise(prompt)
        ]  # fmt: skip

    def _send(self, content: Mapping[str, Any], status: int = 200) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Silent."""


@contextmanager
def serving(model: LittleModel) -> Iterator[LittleModel]:
    """The model at `url`, until the block ends."""
    handler = type("Handler", (_Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
