"""The hub by the standard library's HTTP alone."""

import http.client
import urllib.error
import urllib.request
from typing import IO, Final
from urllib.parse import quote, urlsplit

from vramledger.errors import BadInput, CannotKnow
from vramledger.model.files.hub import HubReference, MissingFileError
from vramledger.model.files.safetensors import PREFIX_BYTES, header_length, parse_header
from vramledger.model.files.stored import StoredTensor

_TIMEOUT_S: Final = 30
_LARGEST_FILE: Final = 256 << 20
_FIRST_RANGE: Final = 128 << 10  # most headers are smaller


class HttpClient:
    """Reads files and byte ranges under ``ENDPOINT/REPO/resolve/REVISION/NAME``."""

    def __init__(self, endpoint: str, token: str | None) -> None:
        if not endpoint.startswith(("http://", "https://")):
            raise BadInput(f"HF_ENDPOINT is {endpoint!r}; it must begin with http:// or https://.")
        self.endpoint = endpoint
        self.token = token
        self.opener = urllib.request.build_opener(_SameHostCredentials)

    def fetch(self, reference: HubReference, name: str) -> bytes | None:
        try:
            return self._get(reference, name, None, _LARGEST_FILE)
        except MissingFileError:
            return None

    def header(self, reference: HubReference, name: str) -> tuple[StoredTensor, ...]:
        where = f"hf:{reference.id}, {name}"
        start = self._get(reference, name, (0, _FIRST_RANGE - 1), _FIRST_RANGE)
        length = header_length(start[:PREFIX_BYTES], where)
        end = PREFIX_BYTES + length
        if end > len(start):
            start += self._get(reference, name, (len(start), end - 1), end - len(start))
        if len(start) < end:
            raise BadInput(
                f"{where} says its header is {length} bytes long, but the file ends before; "
                "the upload is damaged."
            )
        return parse_header(start[PREFIX_BYTES:end], where, None)

    def _get(
        self, reference: HubReference, name: str, span: tuple[int, int] | None, most: int
    ) -> bytes:
        """At most `most` bytes of a file; a server that ignores ranges is read no further."""
        revision = quote(reference.revision or "main", safe="")
        url = f"{self.endpoint}/{reference.repo}/resolve/{revision}/{quote(name)}"
        headers = {"User-Agent": "vramledger", "Accept-Encoding": "identity"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if span is not None:
            headers["Range"] = f"bytes={span[0]}-{span[1]}"
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - scheme checked above
        try:
            with self.opener.open(request, timeout=_TIMEOUT_S) as response:
                if (
                    span is not None
                    and span[0]
                    and response.status != http.HTTPStatus.PARTIAL_CONTENT
                ):
                    response.read(span[0])
                body: bytes = response.read(most)
                return body
        except urllib.error.HTTPError as error:
            error.close()
            raise _refusal(error, reference, name) from None
        except (OSError, http.client.HTTPException) as error:
            raise unreachable(self.endpoint, reference, error) from None


class _SameHostCredentials(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never carries the token to another host."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and urlsplit(newurl).netloc != urlsplit(req.full_url).netloc:
            request.remove_header("Authorization")
        return request


def unreachable(endpoint: str, reference: HubReference, error: object) -> CannotKnow:
    """The refusal when no answer comes from the hub."""
    return CannotKnow(
        f"{endpoint} cannot be reached for {reference.id} ({error}); give a directory with "
        "config.json, or a catalogue id."
    )


def no_access(reference: HubReference) -> BadInput:
    """The refusal for a repository that is missing, private or gated."""
    return BadInput(
        f"The hub shows no model {reference.id!r} without permission: the name is wrong, or it is "
        "private or gated; accept its terms there and set HF_TOKEN."
    )


def _refusal(error: urllib.error.HTTPError, reference: HubReference, name: str) -> Exception:
    code = error.headers.get("X-Error-Code", "") if error.headers else ""
    if error.code in (401, 403):
        return no_access(reference)
    if code in ("RepoNotFound", "RevisionNotFound"):
        return BadInput(f"The hub has no model {reference.id!r}; check the name and the revision.")
    if error.code == http.HTTPStatus.NOT_FOUND:
        return MissingFileError(name)
    return CannotKnow(
        f"The hub answered {error.code} for {name} of {reference.id}; try again later."
    )
