"""Metrics pages of our own making, after the documented formats, and a server that shows them."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from vramledger.record.tables import Row

VLLM = """\
# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.7e+09
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="demo"} 37.0
vllm:num_requests_running{engine="1",model_name="demo"} 5.0
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="demo"} 0.8125
vllm:kv_cache_usage_perc{engine="1",model_name="demo"} 0.25
# TYPE vllm:gpu_cache_usage_perc gauge
vllm:gpu_cache_usage_perc{engine="0",model_name="demo"} 0.8125
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{engine="0",model_name="demo"} 3.0
vllm:num_preemptions_created{engine="0",model_name="demo"} 1.7e+09
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="demo"} 1000.0
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="demo"} 118.0
vllm:request_success_total{engine="0",finished_reason="length",model_name="demo"} 9.0
# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.25",model_name="demo"} 71.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="demo"} 128.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="demo"} 128.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="demo"} 39.7
# TYPE vllm:cache_config_info gauge
vllm:cache_config_info{block_size="16",cache_dtype="fp8",enable_prefix_caching="True",engine="0",\
gpu_memory_utilization="0.92",kv_cache_size_tokens="134912",num_gpu_blocks_override="None"} 1.0
"""


@dataclass
class Answers:
    """What a path answers; a missing one is 404. `asked` has method, path and key of every request."""

    pages: dict[str, bytes | str]
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    posts: Mapping[str, int] = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers: Answers

    def do_GET(self) -> None:
        page = self.answers.pages.get(self.path)
        status = self.answers.statuses.get(self.path, 404 if page is None else 200)
        self._send(status, page or b"")

    def do_POST(self) -> None:
        self._send(self.answers.posts.get(self.path, 404), b"")

    def _send(self, status: int, page: bytes | str) -> None:
        self.answers.asked.append((self.command, self.path, self.headers.get("Authorization")))
        body = page.encode() if isinstance(page, str) else page
        self.send_response(status)
        for name, value in self.answers.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def served(pages: Mapping[str, bytes | str], **values: Any) -> Iterator[Answers]:
    """A server on the loopback that answers with these pages, which may be changed meanwhile."""
    answers = Answers(dict(pages), **values)
    handler = type("Handler", (_Handler,), {"answers": answers})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.block_on_close = False  # clients keep their connections
        answers.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield answers
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Kept:
    """Stands where a recorded run would: keeps rows and journal lines."""

    rows: list[Any] = field(default_factory=list)
    notes: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list)

    def append(self, row: Row) -> None:
        self.rows.append(row)

    def note(self, t_s: float, event: str, **details: Any) -> None:
        self.notes.append((t_s, event, details))
