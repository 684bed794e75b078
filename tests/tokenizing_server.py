"""A server on loopback that tokenizes as engines do, with a tokenizer trained here; and counts prompts as usage."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Answer = dict[str, Any] | None  # None: 404
Route = Callable[[dict[str, Any]], Answer]
HEAD, TAIL = "<|user|>", "<|end|><|answer|>"  # of a chat with one message


def chat_text(content: str) -> str:
    """The text of a chat; the template strips blanks, as many do."""
    return f"{HEAD}{content.strip()}{TAIL}"


def vllm_routes(tokenizer: Any) -> dict[str, Route]:
    """/tokenize and /detokenize with vLLM's fields."""

    def tokenize(asked: dict[str, Any]) -> Answer:
        if "messages" in asked:
            text = chat_text(asked["messages"][-1]["content"])
            ids = tokenizer.encode(text, add_special_tokens=True).ids
        else:
            ids = tokenizer.encode(
                asked["prompt"], add_special_tokens=asked["add_special_tokens"]
            ).ids
        return {"count": len(ids), "max_model_len": 8192, "tokens": ids}

    return {
        "/tokenize": tokenize,
        "/detokenize": lambda asked: {"prompt": tokenizer.decode(asked["tokens"])},
    }


def llama_cpp_routes(tokenizer: Any) -> dict[str, Route]:
    """/tokenize, /detokenize and /apply-template with llama.cpp's fields."""

    def tokenize(asked: dict[str, Any]) -> Answer:
        if "content" not in asked:
            return {"tokens": []}
        special = asked.get("add_special", False)
        return {"tokens": tokenizer.encode(asked["content"], add_special_tokens=special).ids}

    return {
        "/tokenize": tokenize,
        "/detokenize": lambda asked: {"content": tokenizer.decode(asked["tokens"])},
        "/apply-template": lambda asked: {"prompt": chat_text(asked["messages"][-1]["content"])},
    }


@contextmanager
def serving(routes: dict[str, Route]) -> Iterator[str]:
    """The server's address while the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            route = routes.get(self.path)
            answer = route(asked) if route else None
            body = json.dumps(answer).encode()
            self.send_response(200 if answer is not None else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
