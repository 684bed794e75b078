"""The hub by the standard library's HTTP alone."""

import http
from typing import Final
from urllib.parse import quote

from vramledger.errors import BadInput, CannotKnow
from vramledger.http_get import Answer, AnswerError, get
from vramledger.model.files.hub import HubReference, MissingFileError
from vramledger.model.files.safetensors import PREFIX_BYTES, header_length, parse_header
from vramledger.model.files.stored import StoredTensor
from vramledger.printable import without_password

_TIMEOUT_S: Final = 30
LARGEST_FILE: Final = 256 << 20
_FIRST_RANGE: Final = 128 << 10  # most headers are smaller


class HttpClient:
    """Reads files and byte ranges under ``ENDPOINT/REPO/resolve/REVISION/NAME``."""

    def __init__(self, endpoint: str, token: str | None) -> None:
        if not endpoint.startswith(("http://", "https://")):
            raise BadInput(f"HF_ENDPOINT is {endpoint!r}; it must begin with http:// or https://.")
        self.endpoint = endpoint
        self.token = token

    def fetch(self, reference: HubReference, name: str) -> bytes | None:
        try:
            answer = self._get(reference, name, None, LARGEST_FILE)
        except MissingFileError:
            return None
        if answer.more:
            raise too_large(reference, name)
        return answer.body

    def header(self, reference: HubReference, name: str) -> tuple[StoredTensor, ...]:
        where = f"hf:{reference.id}, {name}"
        start = self._get(reference, name, (0, _FIRST_RANGE - 1), _FIRST_RANGE).body
        length = header_length(start[:PREFIX_BYTES], where)
        end = PREFIX_BYTES + length
        if end > len(start):
            start += self._get(reference, name, (len(start), end - 1), end - len(start)).body
        if len(start) < end:
            raise BadInput(
                f"{where} says its header is {length} bytes long, but the file ends before; "
                "the upload is damaged."
            )
        return parse_header(start[PREFIX_BYTES:end], where, None)

    def _get(
        self, reference: HubReference, name: str, span: tuple[int, int] | None, most: int
    ) -> Answer:
        """At most `most` bytes of a file; a server that ignores ranges is read no further."""
        revision = quote(reference.revision or "main", safe="")
        url = f"{self.endpoint}/{reference.repo}/resolve/{revision}/{quote(name)}"
        headers = {"User-Agent": "vramledger", "Accept-Encoding": "identity"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if span is not None:
            headers["Range"] = f"bytes={span[0]}-{span[1]}"
        try:
            return get(url, headers, most, _TIMEOUT_S, span[0] if span else 0)
        except AnswerError as error:
            raise _refusal(error, self.endpoint, reference, name) from None


def unreachable(endpoint: str, reference: HubReference, error: object) -> CannotKnow:
    """The refusal when no answer comes from the hub."""
    return CannotKnow(
        f"{without_password(endpoint)} cannot be reached for {reference.id} ({error}); give a directory with "
        "config.json, or a catalogue id."
    )


def too_large(reference: HubReference, name: str) -> BadInput:
    """The refusal for a file that no model has in this size."""
    return BadInput(
        f"{name} of {reference.id} on the hub has more than {LARGEST_FILE:,} bytes, far more than "
        "such a file has; the repository or HF_ENDPOINT is not what it should be."
    )


def no_access(reference: HubReference) -> BadInput:
    """The refusal for a repository that is missing, private or gated."""
    return BadInput(
        f"The hub shows no model {reference.id!r} without permission: the name is wrong, or it is "
        "private or gated; accept its terms there and set HF_TOKEN."
    )


def _refusal(error: AnswerError, endpoint: str, reference: HubReference, name: str) -> Exception:
    if error.status in (401, 403):
        return no_access(reference)
    if error.code in ("RepoNotFound", "RevisionNotFound"):
        return BadInput(f"The hub has no model {reference.id!r}; check the name and the revision.")
    if error.status == http.HTTPStatus.NOT_FOUND:
        return MissingFileError(name)
    if error.status >= http.HTTPStatus.BAD_REQUEST:
        return CannotKnow(
            f"The hub answered {error.status} for {name} of {reference.id}; try again later."
        )
    return unreachable(endpoint, reference, error.reason)
