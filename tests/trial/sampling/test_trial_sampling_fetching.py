"""Fetching a page: over one connection, within its limits, each failure a class and a sentence."""

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lying_server import lying
from metrics_samples import served
from vramledger.trial.sampling.fetching import PageConnection, missed_by
from vramledger.trial.sampling.source import Missed


def missed(url: str, timeout_s: float = 60, most: int = 10_000) -> tuple[str, str]:
    connection = PageConnection(url, {}, timeout_s, most)
    with pytest.raises(Missed) as failure:
        connection.get()
    connection.close()
    return failure.value.error_class, failure.value.why


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A server that says these bytes to everyone and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client:
                    client.recv(65536)
                    client.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/metrics"
        listener.shutdown(socket.SHUT_RDWR)


def test_pages_come_over_one_connection_that_stays_open() -> None:
    with served({"/metrics": "a 1\n"}) as server:
        connection = PageConnection(server.url + "/metrics", {"Authorization": "Bearer k"}, 60)
        assert connection.get().body == b"a 1\n"
        first = connection._connection
        assert connection.get().body == b"a 1\n"
        assert first is not None
        assert connection._connection is first
        connection.close()
        assert server.asked == [("GET", "/metrics", "Bearer k")] * 2


def test_a_connection_that_the_server_let_go_is_made_anew() -> None:
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n") as url:
        connection = PageConnection(url, {}, 60)
        assert [connection.get().body for _ in range(3)] == [b"a 1\n"] * 3
        connection.close()


def test_a_head_comes_with_names_in_lower_case() -> None:
    with served({"/metrics": "a 1\n"}, headers={"Process-Start-Time-Unix": "17"}) as server:
        connection = PageConnection(server.url + "/metrics", {}, 60)
        assert connection.get().headers["process-start-time-unix"] == "17"
        connection.close()


@pytest.mark.parametrize(
    ("path", "error_class", "why"),
    [
        ("nothing", "http_404", "it answers 404"),
        ("endless", "too_large", "it sends more than 10,000 bytes"),
        ("short", "cut_off", "it ended before the length it had stated"),
        ("drip", "timeout", "it did not answer within 0.5 s"),
        ("slowheader", "timeout", "it did not answer within 0.5 s"),
    ],
)
def test_a_lying_server_costs_no_more_than_its_limit(path: str, error_class: str, why: str) -> None:
    with lying() as lies:
        limit_s = 0.5 if error_class == "timeout" else 60
        assert missed(f"{lies.url}/{path}/x", limit_s) == (error_class, why)


@pytest.mark.parametrize(
    ("answer", "error_class"),
    [
        (b"", "reset"),
        (b"220 mail server\r\n", "no_http"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\n\r\n", "http_302"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", "cut_off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", "cut_off"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 300 + b"\r\n", "no_http"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", "no_http"),
    ],
)
def test_answers_that_are_none_have_their_class(answer: bytes, error_class: str) -> None:
    with answering(answer) as url:
        assert missed(url)[0] == error_class


def test_an_address_where_nothing_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert missed(f"http://127.0.0.1:{port}/metrics") == (
        "connect_refused",
        "nothing listens there",
    )
    assert missed("http://name.invalid/metrics")[0] == "dns"
    assert missed("ftp://localhost/metrics")[0] == "address"


def test_a_server_without_tls_is_no_secure_one() -> None:
    with served({}) as server:
        assert missed(server.url.replace("http", "https"))[0] == "tls"


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with served({"http://far.invalid/metrics": "a 1\n"}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        connection = PageConnection("http://far.invalid/metrics", {}, 60)
        assert connection.get().body == b"a 1\n"
        connection.close()


def test_no_failure_repeats_what_the_server_said() -> None:
    text = "sk-planted"
    errors = [ssl.SSLError(1, text), OSError(text), http.client.HTTPException(text)]
    assert all(text not in missed_by(error).why for error in errors)
