"""Requests and responses are found in whatever pieces their bytes come."""

import random
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vramledger.methods.mirror.front import Front, Header
from vramledger.methods.mirror.heard import Heard
from vramledger.methods.mirror.passing import Passing
from vramledger.methods.mirror.requests import Requests
from vramledger.methods.mirror.responses import Responses

CHAT = b"/v1/chat/completions"


class Looking:
    """An onlooker that takes everything and keeps what it saw."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.lost = 0

    def wants(self, _method: bytes, path: bytes) -> bool:
        return path == CHAT

    def asked(self, path: bytes, headers: list[Header], body: bytes) -> Heard | None:
        raise AssertionError(path, headers, body)

    def answered(self, status: int) -> None:
        self.statuses.append(status)

    def unreached(self, failure: str) -> None:
        raise AssertionError(failure)

    def lost_sight(self) -> None:
        self.lost += 1


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[begin:end] for begin, end in pairwise(edges)]


def request(method: bytes, body: bytes) -> bytes:
    return b"%b %b HTTP/1.1\r\nHost: proxy\r\nContent-Length: %d\r\n\r\n%b" % (method, CHAT, len(body), body)  # fmt: skip


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4), st.lists(st.integers(0, 10_000), max_size=12))  # fmt: skip
def test_requests_go_on_as_they_came_however_they_are_cut(
    bodies: list[bytes], cuts: list[int]
) -> None:
    looking = Looking()
    requests = Requests(Front(b"a.server:80", b""), looking, Responses(looking))
    sent = b"".join(request(b"POST", body) for body in bodies)
    out = b"".join(requests.feed(piece) for piece in pieces(sent, cuts))
    assert out == sent.replace(b"Host: proxy", b"Host: a.server:80")
    assert not requests.in_request
    assert [each.body for each in requests.whole] == bodies[:1]  # the others came before an answer


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.lists(st.integers(0, 10_000), max_size=12), st.integers(0, 2**32))  # fmt: skip
def test_answers_are_counted_however_they_are_cut(
    heads: list[bool], cuts: list[int], seed: int
) -> None:
    looking, draw = Looking(), random.Random(seed)
    responses = Responses(looking)
    sent, statuses = b"", []
    for is_head in heads:
        responses.expect(Passing(is_head=is_head, own=False))
        body = draw.randbytes(draw.randrange(40)).replace(b"H", b"h") + b"\r\n\r\n"
        statuses.append(draw.choice([200, 404, 503]))
        sent += b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (statuses[-1], len(body))
        sent += b"" if is_head else body
    for piece in pieces(sent, cuts):
        responses.feed(piece, 0)
    assert looking.statuses == statuses
    assert not responses.outstanding
    assert looking.lost == 0
