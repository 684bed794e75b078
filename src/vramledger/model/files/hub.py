"""``hf:org/name[@revision]``: configuration and headers from the hub, never a weight.

Headers come by range requests. huggingface_hub does the talking where it is installed, the
standard library where it is not; ``HF_ENDPOINT``, ``HF_TOKEN`` and ``HF_HUB_OFFLINE`` are honoured.
"""

import os
import re
from importlib.util import find_spec
from typing import Final, Protocol

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.files import HUB_PREFIX
from vramledger.model.files.safetensors import (
    INDEX_NAME,
    SINGLE_NAME,
    collect,
    parse_weight_map,
)
from vramledger.model.files.stored import StoredTensor, StoredWeights

DEFAULT_ENDPOINT: Final = "https://huggingface.co"
_REFERENCE: Final = re.compile(
    r"hf:(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w][\w./-]*))?\Z", re.ASCII
)
_CONNECTIONS: Final = 8
_MOST_FILES: Final = 2_000
_OFF: Final = frozenset({"", "0", "false", "no", "off"})


@frozen
class HubReference:
    """A model on the hub, at a branch, tag or commit."""

    repo: str
    revision: str | None

    @property
    def id(self) -> str:
        return self.repo if self.revision is None else f"{self.repo}@{self.revision}"


class HubClient(Protocol):
    """How a repository's files are reached."""

    def fetch(self, reference: HubReference, name: str) -> bytes | None:
        """A small file, None where the repository has none of that name."""
        ...

    def header(self, reference: HubReference, name: str) -> tuple[StoredTensor, ...]:
        """The tensors of a safetensors file, from its first bytes."""
        ...


@frozen
class HubFiles:
    """What the hub holds of a model: JSON files as bytes, headers of the weights."""

    config: bytes | None
    separate_quantization: bytes | None  # hf_quant_config.json
    weights: StoredWeights | None


def parse_reference(text: str) -> HubReference:
    """Read ``hf:org/name[@revision]``.

    Raises:
        BadInput: not of that form.
    """
    match = _REFERENCE.match(text)
    if match is None or ".." in text:
        raise BadInput(
            f"{text!r} is not a hub reference; write hf:org/name or hf:org/name@revision."
        )
    return HubReference(match["repo"], match["revision"])


def is_offline() -> bool:
    """Whether ``HF_HUB_OFFLINE`` forbids the network."""
    return os.environ.get("HF_HUB_OFFLINE", "").casefold() not in _OFF


def endpoint() -> str:
    return (os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")


def client() -> HubClient:
    """huggingface_hub where it is installed, else the standard library."""
    if find_spec("huggingface_hub") is not None:
        from vramledger.model.files.hub_library import LibraryClient

        return LibraryClient(endpoint())
    from vramledger.model.files.hub_http import HttpClient

    return HttpClient(endpoint(), os.environ.get("HF_TOKEN"))


def read_hub(reference: HubReference, source: HubClient) -> HubFiles:
    """Configuration and weight headers of a model.

    Raises:
        BadInput: no such model or revision, no access, or a damaged header.
        CannotKnow: the hub cannot be reached.
    """
    config = source.fetch(reference, "config.json")
    separate = source.fetch(reference, "hf_quant_config.json") if config is not None else None
    return HubFiles(config, separate, _weights(reference, source))


def _weights(reference: HubReference, source: HubClient) -> StoredWeights | None:
    from concurrent.futures import ThreadPoolExecutor

    where = f"{HUB_PREFIX}{reference.id}"
    index = source.fetch(reference, INDEX_NAME)
    if index is None:
        return _single(reference, source, where)
    weight_map = parse_weight_map(index, f"{where}, {INDEX_NAME}")
    names = sorted(set(weight_map.values()))
    if len(names) > _MOST_FILES:
        raise BadInput(f"{where}, {INDEX_NAME} names {len(names):,} files; no model has as many.")
    tensors: list[StoredTensor] = []
    pool = ThreadPoolExecutor(_CONNECTIONS)
    try:
        for part in pool.map(lambda name: source.header(reference, name), names):
            tensors += part
    finally:  # after a failure the rest is not asked for
        pool.shutdown(wait=False, cancel_futures=True)
    return collect(tensors, weight_map, where, len(names))


def _single(reference: HubReference, source: HubClient, where: str) -> StoredWeights | None:
    try:
        return StoredWeights(source.header(reference, SINGLE_NAME), where)
    except MissingFileError:
        return None


class MissingFileError(Exception):
    """The repository has no file of that name."""
