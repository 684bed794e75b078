"""Copies on another machine, by the system's own ssh, with the user's own keys and configuration.

``VRAM_SSH`` names another command than ``ssh``, with its options, as ``GIT_SSH_COMMAND`` does for git.
"""

import hashlib
import os
import shlex
import subprocess
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from vramledger.frozen import frozen
from vramledger.methods.trialplan.home.not_home import NotHome
from vramledger.printable import one_line

COMMAND: Final = "VRAM_SSH"
_UNATTENDED: Final = (
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=15",
    "-o",
    "ServerAliveInterval=15",
)
_PIECE: Final = 1 << 20
_LONGEST_S: Final = 3600.0
_HASH: Final = 64  # hexadecimal digits
_MOST_WORDS: Final = 300  # of what ssh says


@frozen
class Remote:
    """A folder on a host, relative to the user's own there unless it begins with a slash."""

    host: str
    folder: str

    @property
    def name(self) -> str:
        """As it was given."""
        return f"{self.host}:{self.folder}"

    def put(self, source: Path, relative: PurePosixPath) -> None:
        """Sent through ssh, put on disk and hashed there, and put in its place where the hash is ours.

        Raises:
            NotHome: it is not there afterwards.
        """
        place = self._place(relative)
        waiting = str(PurePosixPath(place).with_name(f".{PurePosixPath(place).name}.coming"))
        above, coming = shlex.quote(str(PurePosixPath(place).parent)), shlex.quote(waiting)
        there = self._said(
            f"mkdir -p {above} && cat > {coming} && sync {coming} && sha256sum < {coming}", source
        )
        sent, told = there
        if told.split(" ")[0] != sent:
            raise NotHome(f"{self.name} has {relative} otherwise than it was sent")
        self._said(f"mv -f {coming} {shlex.quote(place)} && sync {above}", None)

    def remove(self, relative: PurePosixPath) -> None:
        """A folder and all in it.

        Raises:
            NotHome: it is still there.
        """
        self._said(f"rm -rf {shlex.quote(self._place(relative))}", None)

    def _place(self, relative: PurePosixPath) -> str:
        return str(PurePosixPath(self.folder.removeprefix("~/")) / relative)

    def _said(self, command: str, source: Path | None) -> tuple[str, str]:
        """The SHA-256 of what was sent, and what the command there printed."""
        with nullcontext() if source is None else source.open("rb") as reading:
            try:
                with self._started(command) as process:
                    sent = "" if reading is None else _sent(reading, process)
                    out, err = process.communicate(timeout=_LONGEST_S)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise NotHome(f"{self.name} cannot be reached: {error}") from None
        if process.returncode:
            said = one_line(err.decode(errors="replace").strip())[:_MOST_WORDS]
            ended = f"exit code {process.returncode}"
            raise NotHome(f"{self.name} did not take it: {said or ended}")
        return sent, out.decode(errors="replace").strip()

    def _started(self, command: str) -> "subprocess.Popen[bytes]":
        ssh = shlex.split(os.environ.get(COMMAND, "ssh"))
        return subprocess.Popen(  # noqa: S603 - the user's own ssh and host
            [*ssh, *_UNATTENDED, self.host, command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def _sent(reading: BinaryIO, process: "subprocess.Popen[bytes]") -> str:
    """Send as much of the file as there is now; its SHA-256, as far as the other side took it."""
    digest = hashlib.sha256()
    left = os.fstat(reading.fileno()).st_size
    while left > 0 and (piece := reading.read(min(_PIECE, left))):
        digest.update(piece)
        left -= len(piece)
        try:
            if process.stdin is not None:
                process.stdin.write(piece)
        except BrokenPipeError:  # it ended early and says why
            break
    return digest.hexdigest()
