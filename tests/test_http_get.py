"""GET against servers that lie: one reason, soon, whatever they send."""

import tracemalloc
from collections.abc import Iterator

import pytest

from lying_server import Lies, lying
from vramledger.http_get import AnswerError, get

SECONDS = 1.0


@pytest.fixture(scope="module")
def server() -> Iterator[Lies]:
    with lying() as lies:
        yield lies


def refusal(url: str, headers: dict[str, str] | None = None) -> str:
    with pytest.raises(AnswerError) as caught:
        get(url, headers or {}, 1000, SECONDS)
    return caught.value.reason


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ("short", "the answer ends 996 bytes early"),
        ("drip", "no whole answer within 1 s"),
        ("slowheader", "no whole answer within 1 s"),
        ("error", "the server answers 500"),
        ("file", "the server redirects in circles or out of HTTP"),
        ("ftp", "the server redirects to a ftp address"),
        ("circle", "the server redirects in circles or out of HTTP"),
        ("nothing", "the server answers 404"),
    ],
)
def test_a_lie_is_one_reason(server: Lies, lie: str, reason: str) -> None:
    assert refusal(f"{server.url}/{lie}") == reason


def test_what_is_not_http_is_refused(server: Lies) -> None:
    assert "\x1b" in refusal(f"{server.url}/garbage")  # escaped where it is shown


def test_an_endless_body_is_cut(server: Lies) -> None:
    answer = get(f"{server.url}/endless", {}, 1000, 30.0)
    assert answer.body == b"x" * 1000
    assert answer.more


def test_an_endless_body_of_a_redirect_is_not_read(server: Lies) -> None:
    tracemalloc.start()
    with lying() as other:
        server.other = other.url
        assert refusal(f"{server.url}/redirect") == "the server answers 404"
        assert [path for path, _ in other.asked] == ["/nothing"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20


def test_a_token_stays_with_its_host(server: Lies) -> None:
    with lying() as other:
        server.other = other.url
        refusal(f"{server.url}/redirect", {"Authorization": "Bearer secret"})
        assert server.asked[-1] == ("/redirect", "Bearer secret")
        assert other.asked == [("/nothing", None)]


def test_a_password_in_the_address_is_sent_and_never_shown(server: Lies) -> None:
    address = server.url.replace("//", "//me:secret@")
    assert "secret" not in refusal(f"{address}/error")
    assert server.asked[-1] == ("/error", "Basic bWU6c2VjcmV0")
