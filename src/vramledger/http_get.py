"""One GET by the standard library, bounded in time and size whatever the server does.

The whole exchange runs against one deadline, so that a server that sends a byte now and then
cannot hold it up. Redirects are followed within HTTP only, and a token never leaves its host.
"""

import http.client
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from typing import IO, Any, Final
from urllib.parse import unquote, urlsplit

from vramledger.deadline import within
from vramledger.frozen import frozen
from vramledger.printable import without_password

_PIECE: Final = 1 << 16


@frozen
class Answer:
    """What a server sent. `more` says that it had more than was asked to read."""

    status: int
    body: bytes
    more: bool


class AnswerError(Exception):
    """No usable answer. `status` is 0 where none came; `code` is the hub's own error code."""

    def __init__(self, reason: str, status: int = 0, code: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.code = code


def get(url: str, headers: Mapping[str, str], most: int, seconds: float, skip: int = 0) -> Answer:
    """At most `most` bytes of a page, within `seconds`.

    Args:
        url: an address that begins with ``http://`` or ``https://``.
        headers: sent along; ``Authorization`` is not sent to another host.
        most: bytes of the body to keep.
        seconds: for everything, from the connection to the last byte.
        skip: bytes to drop first where the server ignores a range and sends the whole.

    Raises:
        AnswerError: no answer, an error status, a redirect out of HTTP, or the time is up.
    """
    end = time.monotonic() + seconds
    try:
        return within(seconds, lambda: _ask(_request(url, headers), most, skip, end))
    except urllib.error.HTTPError as error:
        raise _status_error(error) from None
    except TimeoutError:
        raise AnswerError(f"no whole answer within {seconds:g} s") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise AnswerError(without_password(str(reason)) or type(error).__name__) from None


def _request(url: str, headers: Mapping[str, str]) -> urllib.request.Request:
    """The request; a user and password in the address become a header, as servers expect."""
    parts = urlsplit(url)
    user, separator, host = parts.netloc.rpartition("@")
    found = dict(headers)
    if separator:
        url = parts._replace(netloc=host).geturl()
        found["Authorization"] = f"Basic {b64encode(unquote(user).encode()).decode()}"
    return urllib.request.Request(url, headers=found)  # noqa: S310 - see `get`


def _status_error(error: urllib.error.HTTPError) -> AnswerError:
    code = error.headers.get("X-Error-Code", "") if error.headers else ""
    error.close()
    astray = http.HTTPStatus.MULTIPLE_CHOICES <= error.code < http.HTTPStatus.BAD_REQUEST
    reason = (
        "the server redirects in circles or out of HTTP"
        if astray
        else f"the server answers {error.code}"
    )
    return AnswerError(reason, error.code, code)


def _ask(request: urllib.request.Request, most: int, skip: int, end: float) -> Answer:
    opener = urllib.request.build_opener(_CarefulRedirects)
    with opener.open(request, timeout=max(0.1, end - time.monotonic())) as response:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            _read(response, skip, end)
        body = _read(response, most + 1, end)
        return Answer(response.status, body[:most], len(body) > most)


def _read(response: Any, count: int, end: float) -> bytes:
    """Up to `count` bytes, given up when the time is."""
    body = bytearray()
    while len(body) < count:
        if time.monotonic() > end:
            raise TimeoutError
        piece = response.read1(min(_PIECE, count - len(body)))
        if not piece:
            break
        body += piece
    if len(body) < count and response.length:
        raise AnswerError(f"the answer ends {response.length} bytes early")
    return bytes(body)


class _CarefulRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects within HTTP, and never carries a token to another host."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        fp.close()  # or its body, however long, would be read to the end
        there, here = urlsplit(newurl), urlsplit(req.full_url)
        if there.scheme not in ("http", "https"):
            raise AnswerError(f"the server redirects to a {there.scheme or 'nameless'} address")
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and (there.scheme, there.netloc) != (here.scheme, here.netloc):
            request.remove_header("Authorization")
        return request
