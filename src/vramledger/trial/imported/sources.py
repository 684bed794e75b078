"""The files of a result: opened with bounds, unpacked where they are gzip, told apart by what is in them."""

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_bytes
from vramledger.yaml_text import parse_yaml

MOST_BYTES: Final = 1 << 30
_GZIP: Final = b"\x1f\x8b"
_IN_FOLDERS: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_MOST_FILES: Final = 1_000
_BLOCK: Final = 1 << 20


@frozen
class Source:
    """One file: `document` is its JSON value, or `lines` are those of a file with a JSON object a line."""

    path: Path
    document: Any = None
    lines: bytes | None = None

    def objects(self) -> Iterator[tuple[int, Any]]:
        """Line numbers with their values, one after the other.

        Raises:
            BadInput: a line is no JSON.
        """
        import orjson

        for number, line in enumerate(io.BytesIO(self.lines or b""), 1):
            if not line.strip():
                continue
            try:
                yield number, orjson.loads(line)
            except orjson.JSONDecodeError:
                raise BadInput(
                    f"{self.path}:{number} is no JSON, so the file is cut off or damaged; use an unchanged copy."
                ) from None


def read_sources(paths: Sequence[Path]) -> tuple[Source, ...]:
    """All files; those of a folder that have a name like a result's.

    Raises:
        BadInput: one cannot be read, is too large, no UTF-8 or no JSON, or is named twice.
    """
    files = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    resolved = [file.resolve() for file in files]
    twice = next((file for file, real in zip(files, resolved, strict=True) if resolved.count(real) > 1), None)  # fmt: skip
    if twice is not None:
        raise BadInput(f"{twice} is named twice; name every file once.")
    return tuple(_read(file) for file in files)


def _inside(folder: Path) -> list[Path]:
    try:
        found = sorted(each for each in folder.iterdir() if each.name.endswith(_IN_FOLDERS))
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be read: {error.strerror or error}; make it readable to you."
        ) from None
    if not found or len(found) > _MOST_FILES:
        how_many = "no file" if not found else f"{len(found):,} files"
        raise BadInput(
            f"{folder} has {how_many} whose name ends in .json or .jsonl; name the files of one result."
        )
    return found


def _read(path: Path) -> Source:
    import orjson

    content = _unpacked(read_bytes(path, MOST_BYTES, "a result"), path)
    if not content.strip():
        raise BadInput(f"{path} is empty; name the result of a load generator.")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from None  # fmt: skip
    if path.name.removesuffix(".gz").endswith((".yaml", ".yml")):
        return Source(path, document=parse_yaml(text, str(path)).value)
    del text
    try:
        return Source(path, document=orjson.loads(content))
    except orjson.JSONDecodeError as error:
        if _is_lines(content):
            return Source(path, lines=content)
        raise BadInput(
            f"{path} is no JSON from byte {error.pos:,} on: it is cut off, damaged, or has a number that JSON does not have "
            "(NaN, Infinity); use an unchanged copy."
        ) from None


def _is_lines(content: bytes) -> bool:
    """Whether the first line is an object by itself, and others follow."""
    import orjson

    first, _, rest = content.lstrip().partition(b"\n")
    try:
        return isinstance(orjson.loads(first), dict) and bool(rest.strip())
    except orjson.JSONDecodeError:
        return False


def _unpacked(content: bytes, path: Path) -> bytes:
    if not content.startswith(_GZIP):
        return content
    found = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            while block := packed.read(_BLOCK):
                found += block
                if len(found) > MOST_BYTES:
                    raise BadInput(
                        f"{path} has more than {MOST_BYTES:,} bytes when unpacked; name a smaller result."
                    )
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise BadInput(f"{path} is a damaged gzip file; use an unchanged copy.") from None
    return bytes(found)
