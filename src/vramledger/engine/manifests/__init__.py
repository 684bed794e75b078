"""Files that start engines: one module a kind of file.

A module offers ``recognises`` and ``read``. The YAML kinds take the parsed documents; the first
that recognises them reads them. Adding a kind is one module and one row here. Modules load only
when a text looks like a manifest.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

if TYPE_CHECKING:
    from vramledger.engine.manifests.document import Node
    from vramledger.engine.manifests.found import Found

YAML_KINDS: Final = ("compose", "kubernetes", "helm", "settings")
_YAML_ENDINGS: Final = frozenset({".yaml", ".yml", ".json"})
_UNIT: Final = re.compile(r"^\[(?:Service|Container)\][ \t]*$", re.MULTILINE)
_YAML_START: Final = re.compile(
    r"\A(?:\s*#[^\n]*\n|\s*\n|---[^\n]*\n)*(?:apiVersion|kind|services|version|name|x-[\w-]+"
    r"|servingEngineSpec|model)\s*:(?:\s|$)"
)


class Reader(Protocol):
    """What a module for a kind of YAML file offers."""

    def recognises(self, documents: "tuple[Node, ...]") -> bool: ...

    def read(self, documents: "tuple[Node, ...]") -> "tuple[Found, ...]": ...


def read_manifest(text: str, where: str, path: Path | None) -> "tuple[Found, ...] | None":
    """Engine starts of a manifest, None when the text is not one.

    Raises:
        BadInput: a YAML file that cannot be read, with file and line.
    """
    if _UNIT.search(text):
        from vramledger.engine.manifests import systemd

        return systemd.read(text, where)
    named_yaml = path is not None and path.suffix in _YAML_ENDINGS
    if not named_yaml and not _YAML_START.match(text):
        return None
    from vramledger.engine.manifests.document import load_documents

    documents = load_documents(text, where)
    for kind in YAML_KINDS:
        reader = cast("Reader", import_module(f"{__name__}.{kind}"))
        if reader.recognises(documents):
            return reader.read(documents)
    return () if named_yaml else None
