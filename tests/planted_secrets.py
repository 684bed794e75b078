"""Samples of logs with a secret of its own in every field that can carry one.

A field is planted by appending a secret to its text (to the text within, where it holds JSON or base64), or by
moving a number that is an identity out of the way. Fields whose change costs a request (times, counts, kinds)
are left as they were by `tolerant`, and planted too by `everywhere`.
"""

import base64
import binascii
import copy
import io
import json
import re
from collections.abc import Callable, Iterator
from csv import DictReader, DictWriter
from typing import Any, Final, TypeAlias

_ID: Final = re.compile(r"(^|[ _.])(id|ids|hash|hashes)$|Id$|^id$", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z0-9][\w./@-]{2,}")
_SHIFT: Final = 700_000_000  # numbers that are identities: far from every count of the samples


class Secrets:
    """Draws secrets, each once, all with the same mark; equal texts of one file stay equal."""

    def __init__(self, mark: str, shift: int = _SHIFT) -> None:
        self.mark, self.shift = mark, shift
        self._given: dict[str, str] = {}

    def text(self, original: str) -> str:
        number = len(self._given)
        return self._given.setdefault(original, f"{original}{self.mark}{number:04}")

    def number(self, original: int) -> int:
        return original + self.shift if original >= 0 else original


class Tree:
    """A file's content as places that can each be planted and taken back."""

    def __init__(self, file_name: str, content: bytes) -> None:
        self._load, self._dump = _codec(file_name, content)
        self.root = self._load(content)

    def content(self) -> bytes:
        return self._dump(self.root)

    def places(self) -> list[tuple[Any, Any, str]]:
        """Containers with the keys and the names of their leaves, nested texts' included."""
        return list(_leaves(self.root))


def tolerant(
    file_name: str, content: bytes, secrets: Secrets, count: Callable[[bytes], object]
) -> tuple[bytes, int]:
    """The content with every field planted that leaves the count as it was.

    The second value is how many fields those are.
    """
    tree = Tree(file_name, content)
    places = [
        (container, key, container[key], changed)
        for container, key, name in tree.places()
        if (changed := _changed(container[key], name, secrets)) is not container[key]
    ]
    wanted = count(content)
    planted = _kept(places, lambda: count(tree.content()) == wanted)
    return tree.content(), planted


_Place: TypeAlias = tuple[Any, Any, Any, Any]  # container, key, value before and after


def _kept(places: list[_Place], sound: Callable[[], bool]) -> int:
    """Plant as many as stay sound, by halves: most of them do."""
    for container, key, _, after in places:
        container[key] = after
    if not places or sound():
        return len(places)
    for container, key, before, _ in places:
        container[key] = before
    if len(places) == 1:
        return 0
    middle = len(places) // 2
    return _kept(places[:middle], sound) + _kept(places[middle:], sound)


def everywhere(file_name: str, content: bytes, secrets: Secrets) -> bytes:
    """The content with every field planted, whatever it costs."""
    tree = Tree(file_name, content)
    for container, key, name in tree.places():
        container[key] = _changed(container[key], name, secrets)
    return tree.content()


def _changed(value: Any, name: str, secrets: Secrets) -> Any:
    if isinstance(value, str):
        return secrets.text(value)
    if isinstance(value, int) and not isinstance(value, bool) and _ID.search(name):
        return secrets.number(value)
    return value


class _Within(dict[str, Any]):
    """JSON that was text: written back as text, in base64 if it was."""

    encode: Callable[[str], str]


def _opened(value: Any) -> Any:
    """A copy whose nested texts of JSON are opened."""
    if isinstance(value, dict):
        return {name: _opened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_opened(inner) for inner in value]
    if isinstance(value, str):
        return _within(value)
    return value


def _within(text: str) -> Any:
    for decode, encode in ((str, str), (_of_base64, _to_base64)):
        try:
            found = json.loads(decode(text))
        except (ValueError, binascii.Error):
            continue
        if isinstance(found, dict | list):
            inner = _Within(value=_opened(found))
            inner.encode = encode
            return inner
    return text


def _of_base64(text: str) -> str:
    return base64.b64decode(text, validate=True).decode()


def _to_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _closed(value: Any) -> Any:
    if isinstance(value, _Within):
        return value.encode(json.dumps(_closed(value["value"])))
    if isinstance(value, dict):
        return {name: _closed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_closed(inner) for inner in value]
    return value


def _leaves(value: Any, name: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Every leaf, with the name it stands under: a list's are under the list's."""
    if isinstance(value, dict):
        items: list[tuple[Any, Any]] = list(value.items())
    else:
        items = list(enumerate(value))
    for key, inner in items:
        named = key if isinstance(key, str) else name
        if isinstance(inner, dict | list):
            yield from _leaves(inner, named)
        else:
            yield value, key, named


def _codec(file_name: str, content: bytes) -> tuple[Callable[[bytes], Any], Callable[[Any], bytes]]:
    if file_name.endswith(".parquet"):
        return _load_parquet, _dump_parquet
    if file_name.endswith(".log"):
        return _load_words, _dump_words
    if content.lstrip()[:1] in (b"{", b"["):
        try:
            json.loads(content)
        except ValueError:
            return _load_lines, _dump_lines
        return (lambda raw: _opened(json.loads(raw))), (
            lambda root: json.dumps(_closed(root)).encode()
        )
    return _load_csv, _dump_csv


def _load_lines(raw: bytes) -> Any:
    return [_opened(json.loads(line)) for line in raw.splitlines() if line.strip()]


def _dump_lines(root: Any) -> bytes:
    return "".join(json.dumps(_closed(each)) + "\n" for each in root).encode()


def _load_csv(raw: bytes) -> Any:
    return [_opened(row) for row in DictReader(io.StringIO(raw.decode()))]


def _dump_csv(root: Any) -> bytes:
    sink = io.StringIO()
    writer = DictWriter(sink, list(root[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_closed(row) for row in root)
    return sink.getvalue().encode()


def _load_words(raw: bytes) -> Any:
    """Words and what stands between them, which carries nothing."""
    text = raw.decode()
    pieces: list[Any] = []
    end = 0
    for found in _WORD.finditer(text):
        pieces += [(text[end : found.start()],), {"word": found[0]}]
        end = found.end()
    return [*pieces, (text[end:],)]


def _dump_words(root: Any) -> bytes:
    return "".join(each["word"] if isinstance(each, dict) else each[0] for each in root).encode()


def _load_parquet(raw: bytes) -> Any:
    import pyarrow.parquet as pq

    return [_opened(row) for row in pq.read_table(io.BytesIO(raw)).to_pylist()]


def _dump_parquet(root: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([_closed(row) for row in copy.deepcopy(root)]), sink)
    return sink.getvalue()
