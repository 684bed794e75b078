"""Python functions compiled by numba, once: the machine code is kept in the user's cache folder.

The folder is named after the sources, because numba looks only at a function's own file to tell
whether its machine code is stale. Where it cannot be written, the code is compiled in every process.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

import numba

_SOURCES: Final = Path(__file__).parents[1]
_MARK: Final = "compiled"
_P = ParamSpec("_P")
_R = TypeVar("_R")


def _fingerprint() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {sys.implementation.cache_tag}".encode())
    for path in sorted([*(_SOURCES / "fast").rglob("*.py"), _SOURCES / "step_cost.py"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _folder() -> Path | None:
    """Where machine code is kept, or None where nothing can be written."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    folder = base / "vramledger" / f"simulator-{_fingerprint()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: nobody's home
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


CACHE: Final = _folder()


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile a function as part of those that call it; integers are 64 bits wide and wrap around.

    It cannot allocate: without numba's reference counts (`_nrt`) steps take an eighth of the time.
    Calls are always inlined (`forceinline`), since a world handed over by value is a copy of its arrays'
    descriptors.
    """
    return _jit(function, keep=False)


def compiled_apart(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Like `compiled`, for what happens seldom or takes long: not inlined, which compiles in less time."""
    return _jit(function, keep=False, inline=False)


def compiled_entry(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile a function that Python calls, with all that it calls, and keep the machine code."""
    return _jit(function, keep=CACHE is not None)


def _jit(function: Callable[_P, _R], *, keep: bool, inline: bool = True) -> Callable[_P, _R]:
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "_nrt": False,
        "forceinline": inline,
    }
    return cast("Callable[_P, _R]", numba.njit(cache=keep, **options)(function))


def say_if_compiling(kernel: str) -> None:
    """Tell on stderr that the first call takes longer, and why."""
    if CACHE is None:
        print(  # noqa: T201 - progress
            "Compiling the simulator (the cache folder cannot be written, so every run does) ...",
            file=sys.stderr,
        )
    elif not (CACHE / f"{_MARK}-{kernel}").exists():
        print("Compiling the simulator, once on this machine ...", file=sys.stderr)  # noqa: T201


def note_compiled(kernel: str) -> None:
    """Remember that a kernel's machine code is in the cache."""
    if CACHE is not None:
        (CACHE / f"{_MARK}-{kernel}").touch()


def _use_cache() -> None:
    if CACHE is not None:
        config: Any = numba.config
        config.CACHE_DIR = str(CACHE)


_use_cache()
