"""A PostgreSQL server of our own, in a folder of its own, that is stopped at the end."""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_USER = "vram"
_PORT = 5432  # of the socket's name alone: nothing listens on the network


@dataclass(frozen=True)
class Server:
    """`url` names the database; `password` is what it asks for."""

    socket: Path
    password: str

    def url(self, table: str) -> str:
        return f"postgres://{_USER}@/postgres?host={self.socket}&port={_PORT}&table={table}"

    def environment(self) -> dict[str, str]:
        return os.environ | {"PGPASSWORD": self.password}

    @property
    def dsn(self) -> str:
        return (
            f"host={self.socket} port={_PORT} user={_USER} password={self.password} dbname=postgres"
        )


def programs() -> Path | None:
    """The folder with initdb and pg_ctl: on the path, or where Debian puts it."""
    found = shutil.which("pg_ctl")
    if found and Path(found).with_name("initdb").exists():
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    return folders[-1].parent if folders else None


@contextmanager
def running(folder: Path, bin_folder: Path) -> Iterator[Server]:
    """Start a server whose files lie in `folder`, which is new and empty."""
    password = secrets.token_urlsafe(12)
    data, secret = folder / "data", folder / "password"
    secret.write_text(password)
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        for path in (folder, secret):
            shutil.chown(path, "postgres")
    _as_server(
        [bin_folder / "initdb", "-D", data, "-U", _USER, f"--pwfile={secret}", "-E", "UTF8",
         "--auth=scram-sha-256", "--no-sync"]
    )  # fmt: skip
    control: list[str | Path] = [bin_folder / "pg_ctl", "-D", data, "-w"]
    options = f"-k {folder} -p {_PORT} -c listen_addresses='' -c fsync=off"
    _as_server([*control, "-l", folder / "log", "-o", options, "start"])
    try:
        yield Server(folder, password)
    finally:
        _as_server([*control, "-m", "immediate", "stop"])


def _as_server(command: Sequence[str | Path]) -> None:
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    done = subprocess.run(
        [*user, *map(str, command)], check=False, capture_output=True, text=True, cwd="/"
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.strip()}")
