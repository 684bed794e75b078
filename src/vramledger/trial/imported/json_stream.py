"""JSON of any size: what stands around its lists, and the values of one list, one after the other.

A result of a load generator is some figures and a few lists as long as the run. Nothing here holds such a list.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol

from vramledger.errors import BadInput
from vramledger.frozen import frozen

_KEPT: Final = 64  # values of a list
_LONGEST_TEXT: Final = 4_096
_DEEPEST: Final = 64
_MOST_VALUES: Final = 2_000_000
_BUFFER: Final = 1 << 16
_ENDS: Final = ("end_map", "end_array")
_STARTS: Final = ("start_map", "start_array")


class Bytes(Protocol):
    """What is read of a file."""

    def read(self, most: int = -1, /) -> bytes: ...


@frozen
class Outline:
    """A JSON value of which lists keep no more than their first values, and texts no more than their beginning.

    `lengths` has, for each place, how long each list there is that is itself kept, in the order of the file. A place is written as keys
    joined by dots; a value of a list is at `item`.
    """

    value: Any
    lengths: Mapping[str, tuple[int, ...]]


class _Built:
    """One list or object on its way, or (without a place) what holds the whole."""

    def __init__(self, place: str | None, value: Any, *, kept: bool) -> None:
        self.place, self.value, self.kept = place, value, kept
        self.key = ""
        self.count = 0

    def takes(self) -> bool:
        """Whether the next value is kept."""
        return self.kept and (isinstance(self.value, dict) or self.count < _KEPT)

    def put(self, value: Any, *, kept: bool) -> None:
        self.count += 1
        if not kept:
            return
        if isinstance(self.value, dict):
            self.value[self.key] = value
        else:
            self.value.append(value)

    def below(self) -> str:
        """The place of the next value."""
        if self.place is None:
            return ""
        step = self.key if isinstance(self.value, dict) else "item"
        return f"{self.place}.{step}" if self.place else step


def outline(stream: Bytes, name: str) -> Outline:
    """The outline of the one value that a stream holds.

    Raises:
        BadInput: it is no JSON, nested without end, or has far too many values outside its lists.
    """
    import ijson

    above = [_Built(None, [], kept=True)]
    lengths: dict[str, list[int]] = defaultdict(list)
    held = 0
    with _said_of(name):
        for event, value in ijson.basic_parse(stream, use_float=True, buf_size=_BUFFER):
            here = above[-1]
            if event == "map_key":
                here.key = value
            elif event in _ENDS:
                above.pop()
                if event == "end_array" and here.kept:
                    lengths[here.place or ""].append(here.count)
            else:
                kept = here.takes()
                held += kept
                if event in _STARTS:
                    begun: Any = {} if event == "start_map" else []
                    above.append(_Built(here.below(), begun, kept=kept))
                    here.put(begun, kept=kept)
                else:
                    here.put(_beginning(value), kept=kept)
            if len(above) > _DEEPEST or held > _MOST_VALUES:
                raise _endless(name)
    return Outline(above[0].value[0], {place: tuple(found) for place, found in lengths.items()})


def values(stream: Bytes, place: str, name: str) -> Iterator[Any]:
    """The values at a place, one after the other.

    Raises:
        BadInput: it is no JSON.
    """
    import ijson

    with _said_of(name):
        yield from ijson.items(stream, place, use_float=True, buf_size=_BUFFER)


def _beginning(value: Any) -> Any:
    return value[:_LONGEST_TEXT] if isinstance(value, str) else value


def _endless(name: str) -> BadInput:
    return BadInput(
        f"{name} is no result of a load generator: it is nested more than {_DEEPEST} deep or has more than {_MOST_VALUES:,} values "
        "besides its lists; name the right file."
    )


@contextmanager
def _said_of(name: str) -> Iterator[None]:
    """The parser's words hold pieces of the file, so they are not repeated."""
    from ijson import JSONError

    try:
        yield
    except JSONError as error:
        if "premature EOF" in str(error):
            raise BadInput(f"{name} is cut off before its end; use an unchanged copy.") from None
        raise BadInput(
            f"{name} is no JSON: it is damaged, or has a number that JSON does not have (NaN, Infinity) or too large a one; use an "
            "unchanged copy."
        ) from None
