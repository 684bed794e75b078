"""What a model's own files tell, where the server runs on this machine and names them: revision, weights, chat template.

The cache of the Hugging Face hub names a folder by its revision and a weight file's content by its SHA-256
(https://huggingface.co/docs/huggingface_hub/guides/manage-cache). Elsewhere weights are read and hashed, up to a size.
"""

import hashlib
import json
import re
import socket
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from vramledger.frozen import frozen
from vramledger.record.durable import file_sha256

_WEIGHTS: Final = (".safetensors", ".gguf", ".bin", ".pt", ".pth")
_MOST_BYTES: Final = 16 << 30  # that are read to be hashed: some twenty seconds
_MOST_FILES: Final = 4096
_TEMPLATE_BYTES: Final = 4 << 20
_REVISION: Final = re.compile(r"[0-9a-f]{40}")
_CONTENT: Final = re.compile(r"[0-9a-f]{64}")


@frozen
class ModelFiles:
    """What the files tell; `weights_unseen` is a clause where the hash of the weights is not among it.

    `weights_sha256` of several files is the hash of their lines `HASH  NAME`, by name, as `sha256sum` prints them.
    """

    where: str | None = None
    revision: str | None = None
    weights_sha256: str | None = None
    chat_template: str | None = None
    weights_unseen: str = "the server names no file of this machine"


def model_files(base: str, names: Iterable[str | None]) -> ModelFiles:
    """The files behind the first of the names that is an absolute path, for a server on this machine."""
    if not is_here(base):
        return ModelFiles(weights_unseen="the server runs on another machine")
    for name in names:
        path = Path(name) if name else None
        if path is not None and path.is_absolute() and _there(path):
            return _read(path)
    return ModelFiles()


def is_here(base: str) -> bool:
    """Whether an address is one of this machine's own."""
    host = urlsplit(base).hostname or ""
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
        return bool(found) and all(_is_ours(str(each)) for each in found)
    except (OSError, UnicodeError):
        return False


def _is_ours(address: str) -> bool:
    """Only a machine's own address can be bound."""
    if ip_address(address.partition("%")[0]).is_loopback:
        return True
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _read(path: Path) -> ModelFiles:
    folder = path if path.is_dir() else path.parent
    revision = folder.name if folder.parent.name == "snapshots" else ""
    known = revision if _REVISION.fullmatch(revision) else None
    template = _template(folder) if path.is_dir() else None
    try:
        files = _weight_files(path)
        if not files:
            return ModelFiles(str(path), known, None, template, f"no weights lie at {path}")
        size = sum(each.stat().st_size for each in files if not _named_by_content(each))
        if size > _MOST_BYTES:
            why = f"the weights at {path} are {size / (1 << 30):,.0f} GiB, which take too long to read"
            return ModelFiles(str(path), known, None, template, why)
        return ModelFiles(str(path), known, _hash_of(files), template, "")
    except OSError as error:
        why = f"{path} cannot be read: {error.strerror or error}"
        return ModelFiles(str(path), known, None, template, why)


def _weight_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(each for each in path.iterdir() if each.suffix in _WEIGHTS and each.is_file())
    safe = [each for each in found if each.suffix == ".safetensors"]
    return (safe or found)[:_MOST_FILES]  # where both forms lie there, engines load the first


def _hash_of(files: list[Path]) -> str:
    hashes = {each.name: _named_by_content(each) or file_sha256(each) for each in files}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    lines = "".join(f"{content}  {name}\n" for name, content in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _named_by_content(path: Path) -> str | None:
    """The hash that the hub's cache has as the name of a file's content."""
    content = path.resolve()
    return content.name if content.parent.name == "blobs" and _CONTENT.fullmatch(content.name) else None  # fmt: skip


def _template(folder: Path) -> str | None:
    """As transformers finds it: a file of its own, else a key of the tokenizer's configuration."""
    text = _small(folder / "chat_template.jinja")
    if text is not None:
        return text
    try:
        found: Any = json.loads(_small(folder / "tokenizer_config.json") or "{}")
    except (ValueError, RecursionError):
        return None
    template = found.get("chat_template") if isinstance(found, dict) else None
    if isinstance(template, list):
        named = [each for each in template if isinstance(each, dict)]
        template = next((e.get("template") for e in named if e.get("name") == "default"), None)
    return template if isinstance(template, str) and template else None


def _small(path: Path) -> str | None:
    try:
        if path.stat().st_size > _TEMPLATE_BYTES:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
