"""A streaming server in C (trial/truth_server.c) whose log says when each byte was really written."""

import csv
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

SOURCE = Path(__file__).parent / "trial" / "truth_server.c"


@dataclass(frozen=True)
class TrueRequest:
    """One request as the server saw it; nanoseconds of CLOCK_MONOTONIC, offsets of chunks in microseconds."""

    name: str
    received_ns: int
    first_ns: int
    last_ns: int
    tokens: int
    ending: str
    offsets_us: tuple[int, ...]


@dataclass
class TruthServer:
    """Where it listens; its log, by the name that it gave each request, once it has ended."""

    url: str
    log: Path

    def requests(self) -> dict[str, TrueRequest]:
        with self.log.open() as file:
            found = [_request(row) for row in csv.DictReader(file)]
        return {request.name: request for request in found}


@contextmanager
def truth_server(log: Path, *arguments: str, prefix: Sequence[str] = ()) -> Iterator[TruthServer]:
    """The server, until the end of the block; `arguments` are its own, `prefix` is a command that runs it.

    Raises:
        FileNotFoundError: there is no C compiler.
    """
    command = [*prefix, str(_program()), "--log", str(log), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield TruthServer(f"http://127.0.0.1:{int(process.stdout.readline())}", log)
        finally:
            process.send_signal(signal.SIGTERM)


@cache
def _program() -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        raise FileNotFoundError("no C compiler")
    made = Path(mkdtemp(prefix="truth-server-")) / "truth_server"
    subprocess.run([compiler, "-O2", "-o", made, SOURCE], check=True)
    return made


def _request(row: dict[str, str]) -> TrueRequest:
    return TrueRequest(
        f"truth-{row['id']}",
        int(row["received_ns"]),
        int(row["first_ns"]),
        int(row["last_ns"]),
        int(row["tokens"]),
        row["ending"],
        tuple(map(int, row["offsets_us"].split())),
    )
