"""Build the environments of other load generators, once, outside the checkout: for `make bench`, which does without.

    python scripts/peers/prepare.py [NAME ...]

They live in the user's cache directory (``$VRAM_PEERS`` overrides the place), one for each list beside this script, and
are rebuilt when their list changes. AIPerf takes a minute and 1.2 GB, GuideLLM two minutes and 1.5 GB.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
STAMP: Final = "prepared"


def peers_home() -> Path:
    """The folder that holds the environments."""
    given = os.environ.get("VRAM_PEERS")
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache, "vramledger", "peers")


def names() -> list[str]:
    """The tools that have a list."""
    return sorted(path.stem for path in HERE.glob("*.txt"))


def programs(name: str) -> Path | None:
    """The folder with a tool's programs; None where its environment is not there, or from another list."""
    place = peers_home() / name
    stamp = place / STAMP
    whole = stamp.is_file() and stamp.read_text() == _fingerprint(name)
    return place / "bin" if whole else None


def build(name: str) -> None:
    """Make the environment anew and install the list, which is complete.

    Raises:
        CalledProcessError: a step failed.
    """
    place = peers_home() / name
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    subprocess.run(
        [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps", "-r", str(_list(name))],
        check=True,
    )  # fmt: skip
    subprocess.run([str(place / "bin" / name), "--version"], check=True, stdout=subprocess.DEVNULL)
    (place / STAMP).write_text(_fingerprint(name))


def _list(name: str) -> Path:
    return HERE / f"{name}.txt"


def _fingerprint(name: str) -> str:
    return hashlib.sha256((_list(name).read_text() + sys.version).encode()).hexdigest()


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Prepare what is not there yet; 1 when one could not be prepared, the others all the same."""
    failed = False
    with _only_one(peers_home()):
        for name in sys.argv[1:] or names():
            if name not in names():
                print(f"There is no list for {name}; there are {', '.join(names())}.", file=sys.stderr)  # fmt: skip
                return 2
            if programs(name) is not None:
                continue
            print(f"Preparing {name} in {peers_home() / name}", file=sys.stderr)
            try:
                build(name)
            except (subprocess.CalledProcessError, OSError) as error:
                print(f"{name} could not be prepared: {error}.", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
