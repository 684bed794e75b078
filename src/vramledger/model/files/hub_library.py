"""The hub through huggingface_hub: its cache, its token, its range requests."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from vramledger.deadline import within
from vramledger.errors import BadInput, VramError
from vramledger.model.files.hub import HubReference
from vramledger.model.files.hub_http import (
    LARGEST_FILE,
    HttpClient,
    no_access,
    too_large,
    unreachable,
)
from vramledger.model.files.stored import StoredTensor
from vramledger.named_file import read_bytes
from vramledger.printable import without_password

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_TIMEOUT_S: Final = 60
_FIRST_TIMEOUT_S: Final = 10


@contextmanager
def _quiet() -> Iterator[None]:
    """The library tells of its retries on stderr; ours is one sentence when it has given up."""
    logger = logging.getLogger("huggingface_hub")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


class _Counter:
    """Stands where the library wants a progress bar, and stops what grows too large."""

    def __init__(self, *, refusal: VramError, **_settings: object) -> None:
        self.refusal = refusal
        self.received = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def update(self, count: int) -> None:
        self.received += count
        if self.received > LARGEST_FILE:
            raise self.refusal


class LibraryClient:
    """Files land in the library's own cache; of weights only headers are read."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.answered = False  # whether the hub has answered anything yet

    def fetch(self, reference: HubReference, name: str) -> bytes | None:
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

        try:
            with _quiet():
                path = within(_TIMEOUT_S, lambda: self._download(reference, name))
        except TimeoutError:
            reason = f"no whole answer within {_TIMEOUT_S} s"
            raise unreachable(self.endpoint, reference, reason) from None
        except LocalEntryNotFoundError as error:
            raise unreachable(self.endpoint, reference, _short(error)) from None
        except EntryNotFoundError:
            return None
        except Exception as error:  # noqa: BLE001 - the library raises its HTTP client's own errors
            self._refuse(error, reference)
        return read_bytes(path, LARGEST_FILE, "a file of a model's description")

    def _download(self, reference: HubReference, name: str) -> Path:
        api = self._api()
        if not self.answered:
            self._ask_once(api, reference, name)
        counter: Any = partial(_Counter, refusal=too_large(reference, name))
        found = api.hf_hub_download(
            reference.repo, name, revision=reference.revision, tqdm_class=counter
        )
        return Path(found)

    def _ask_once(self, api: "HfApi", reference: HubReference, name: str) -> None:
        """One request without the retries of a download, so that no hub is known in seconds."""
        from huggingface_hub import hf_hub_url

        url = hf_hub_url(reference.repo, name, revision=reference.revision, endpoint=self.endpoint)
        api.get_hf_file_metadata(url=url, timeout=_FIRST_TIMEOUT_S)
        self.answered = True

    def header(self, reference: HubReference, name: str) -> tuple[StoredTensor, ...]:
        """By our own ranges: the library would read all that a server sends for one."""
        from huggingface_hub import get_token

        return HttpClient(self.endpoint, get_token()).header(reference, name)

    def _api(self) -> "HfApi":
        import os

        from huggingface_hub import HfApi

        return HfApi(endpoint=self.endpoint, token=os.environ.get("HF_TOKEN") or None)

    def _refuse(self, error: Exception, reference: HubReference) -> NoReturn:
        """Turn the library's error into one of ours."""
        from huggingface_hub.errors import (
            GatedRepoError,
            HFValidationError,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )

        if isinstance(error, VramError):
            raise error
        if isinstance(error, GatedRepoError | RepositoryNotFoundError):
            raise no_access(reference) from None
        if isinstance(error, RevisionNotFoundError):
            raise BadInput(
                f"The hub has no revision {reference.revision!r} of {reference.repo}; "
                "check its branches and tags."
            ) from None
        if isinstance(error, HFValidationError):
            raise BadInput(f"{reference.id} on the hub cannot be used: {_short(error)}.") from None
        raise unreachable(self.endpoint, reference, _short(error)) from error


def _short(error: Exception) -> str:
    """The first line of an error, without its closing dot."""
    lines = str(error).strip().splitlines()
    return without_password((lines[0] if lines else type(error).__name__).rstrip("."))
