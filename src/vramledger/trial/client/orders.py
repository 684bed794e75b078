"""The two pipes of a worker: words that steer it, lines that tell what it does."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Final

_PIECE: Final = 1 << 16


class Orders:
    """Reads lines from a pipe; the first may be waited for, the rest are handed on as they come.

    `ended` is called when the pipe ends: whoever gave the orders is gone.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def first_line(self) -> bytes:
        """The first line, once it is there; what there is of one when the pipe ends."""
        while b"\n" not in self._rest:
            piece = os.read(self._descriptor, _PIECE)
            if not piece:
                break
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def listen(self, heard: Callable[[str], None], ended: Callable[[], None]) -> None:
        """Hand on every further line from now on; to be called inside a running event loop."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            piece = os.read(self._descriptor, _PIECE)
            self._rest += piece
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                heard(line.decode("ascii", "replace").strip())
            if not piece:
                loop.remove_reader(self._descriptor)
                ended()

        if self._rest:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                loop.call_soon(heard, line.decode("ascii", "replace").strip())
        loop.add_reader(self._descriptor, read)

    def ignore(self) -> None:
        """Hear no more."""
        asyncio.get_running_loop().remove_reader(self._descriptor)


class Reports:
    """Writes JSON objects to a pipe, a line each.

    A report that may be missed is dropped when the pipe is full: nobody reads it, and sending must go on.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def tell(self, report: Mapping[str, Any]) -> None:
        """Write it, and wait until there is room."""
        os.set_blocking(self._descriptor, True)
        self._write(report)

    def tell_if_heard(self, report: Mapping[str, Any]) -> None:
        """Write it whole if there is room, and not at all if there is none."""
        os.set_blocking(self._descriptor, False)
        try:
            self._write(report)
        except BlockingIOError:
            return
        finally:
            os.set_blocking(self._descriptor, True)

    def _write(self, report: Mapping[str, Any]) -> None:
        line = json.dumps(report, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]
