"""Questions put to a server's addresses once, each bounded in time and size."""

import json
from math import isfinite
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.printable import without_password
from vramledger.trial.sampling.fetching import Fetched, PageConnection
from vramledger.trial.sampling.source import Missed
from vramledger.trial.sampling.target import authorization

TIMEOUT_S: Final = 10.0
_JSON: Final = {"Content-Type": "application/json"}


@frozen
class Refused:
    """No answer of use: a fixed word and one clause."""

    error_class: str
    why: str


_CUT: Final = Refused("cut", "it is asked no more")


class Asker:
    """Asks one server; answers are kept, so that nothing is asked twice.

    `base` is the address without `/v1`.
    """

    def __init__(self, base: str, key: str | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self.base, self._headers, self._timeout_s = base, authorization(key), timeout_s
        self._kept: dict[str, Fetched | Refused] = {}
        self._open: set[PageConnection] = set()
        self._is_cut = False

    def page(self, path: str) -> Fetched | Refused:
        """What a path answers to GET."""
        if path not in self._kept:
            self._kept[path] = self._exchange(path, "GET")
        return self._kept[path]

    def json(self, path: str) -> dict[str, Any] | Refused:
        """The JSON object that a path answers to GET."""
        found = self.page(path)
        if isinstance(found, Refused):
            return found
        try:
            document = json.loads(found.body, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError):
            return Refused("bad_json", "what it answers is not JSON")
        if not isinstance(document, dict):
            return Refused("bad_json", "what it answers is no JSON object")
        return document

    def post(self, path: str, body: bytes | None = None) -> Fetched | Refused:
        """What a path answers to a POST of nothing, or of JSON."""
        return self._exchange(path, "POST", body)

    def fresh(self, path: str) -> Fetched | Refused:
        """What a path answers to GET now, kept or not."""
        return self._exchange(path, "GET")

    def answered(self) -> tuple[str, ...]:
        """The paths that answered so far."""
        return tuple(path for path, found in self._kept.items() if isinstance(found, Fetched))

    def cut(self) -> None:
        """End what other threads ask now, and ask nothing more."""
        self._is_cut = True
        for each in tuple(self._open):
            each.close()

    def _exchange(self, path: str, method: str, body: bytes | None = None) -> Fetched | Refused:
        headers = self._headers if body is None else {**self._headers, **_JSON}
        connection = PageConnection(
            self.base + path, headers, self._timeout_s, method=method, body=body
        )
        self._open.add(connection)
        try:
            return _CUT if self._is_cut else connection.get()
        except Missed as missed:
            return Refused(missed.error_class, missed.why)
        finally:
            self._open.discard(connection)
            connection.close()


def _finite(text: str) -> float | None:
    """A number of a document; None for what is none (NaN, Infinity, 1e999) and could stand in no record."""
    found = float(text)
    return found if isfinite(found) else None


def base_of(url: str) -> str:
    """A server's address as people give it, without `/v1` and anything after it.

    Raises:
        BadInput: it is no address of a web server.
    """
    parts = _parts(url)
    if parts is None:
        raise BadInput(
            f"{without_password(url) or 'An empty text'} is no address of a server; give one such as "
            "http://localhost:8000."
        )
    path = parts.path.rstrip("/")
    for end in ("/chat/completions", "/completions", "/models", "/v1"):
        path = path.removesuffix(end)
    return parts._replace(path=path.rstrip("/"), query="", fragment="").geturl()


def _parts(url: str) -> SplitResult | None:
    """The parts of an address, None where it is none of a web server."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # brackets or a port that make no sense
        return None
    plain = parts.geturl().isprintable() and " " not in url.strip()
    return parts if known and plain else None
