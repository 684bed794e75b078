"""Files that start engines: one module a kind of file.

A YAML reader offers ``recognises(documents)`` and ``read(documents) -> tuple[Found, ...]``.
Adding a kind is one module and one row here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vramledger.engine.manifests import compose, helm, kubernetes, settings, systemd
from vramledger.engine.manifests.document import Node, load_documents
from vramledger.engine.manifests.found import Found

_YAML_ENDINGS: Final = frozenset({".yaml", ".yml", ".json"})
_YAML_START: Final = re.compile(
    r"\A(?:\s*#[^\n]*\n|\s*\n|---[^\n]*\n)*(?:apiVersion|kind|services|version|name|x-[\w-]+"
    r"|servingEngineSpec|model)\s*:(?:\s|$)"
)


@dataclass(frozen=True, slots=True)
class Reader:
    """A kind of YAML file: how to tell it, how to read it."""

    recognises: Callable[[tuple[Node, ...]], bool]
    read: Callable[[tuple[Node, ...]], tuple[Found, ...]]


READERS: Final = (
    Reader(compose.recognises, compose.read),
    Reader(kubernetes.recognises, kubernetes.read),
    Reader(helm.recognises, helm.read),
    Reader(settings.recognises, settings.read),
)


def read_manifest(text: str, where: str, path: Path | None) -> tuple[Found, ...] | None:
    """Engine starts of a manifest, None when the text is not one.

    Raises:
        BadInput: a YAML file that cannot be read, with file and line.
    """
    if systemd.recognises(text):
        return systemd.read(text, where)
    named_yaml = path is not None and path.suffix in _YAML_ENDINGS
    if not named_yaml and not _YAML_START.match(text):
        return None
    documents = load_documents(text, where)
    for reader in READERS:
        if reader.recognises(documents):
            return reader.read(documents)
    return () if named_yaml else None
