"""The hub through huggingface_hub: its cache, its token, its range requests."""

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from vramledger.errors import BadInput, VramError
from vramledger.model.files.hub import HubReference, MissingFileError
from vramledger.model.files.hub_http import no_access, unreachable
from vramledger.model.files.safetensors import check_entries
from vramledger.model.files.stored import StoredTensor

if TYPE_CHECKING:
    from huggingface_hub import HfApi


class LibraryClient:
    """Files land in the library's own cache; of weights only headers are read."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def fetch(self, reference: HubReference, name: str) -> bytes | None:
        from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

        try:
            path = self._api().hf_hub_download(reference.repo, name, revision=reference.revision)
        except LocalEntryNotFoundError as error:
            raise unreachable(self.endpoint, reference, _short(error)) from None
        except EntryNotFoundError:
            return None
        except Exception as error:  # noqa: BLE001 - the library raises its HTTP client's own errors
            self._refuse(error, reference)
        return Path(path).read_bytes()

    def header(self, reference: HubReference, name: str) -> tuple[StoredTensor, ...]:
        from huggingface_hub.errors import EntryNotFoundError

        try:
            metadata = self._api().parse_safetensors_file_metadata(
                reference.repo, name, revision=reference.revision
            )
        except EntryNotFoundError:
            raise MissingFileError(name) from None
        except Exception as error:  # noqa: BLE001 - see above
            self._refuse(error, reference)
        entries = {
            tensor: {
                "dtype": info.dtype,
                "shape": list(info.shape),
                "data_offsets": list(info.data_offsets),
            }
            for tensor, info in metadata.tensors.items()
        }
        return check_entries(entries, f"hf:{reference.id}, {name}", None)

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
            SafetensorsParsingError,
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
        if isinstance(error, HFValidationError | SafetensorsParsingError):
            raise BadInput(f"{reference.id} on the hub cannot be used: {_short(error)}.") from None
        raise unreachable(self.endpoint, reference, _short(error)) from error


def _short(error: Exception) -> str:
    """The first line of an error, without its closing dot."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")
