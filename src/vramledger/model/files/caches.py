"""Where other programs keep models they downloaded: the hub's cache and ModelScope's."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_COMMIT: Final = re.compile(r"[0-9a-f]{40}\Z")


def find_hub_snapshot(repo: str, revision: str | None) -> Path | None:
    """The directory of a model in the hub's cache, None where it is not there.

    The cache is ``$HF_HUB_CACHE``, else ``$HF_HOME/hub``, else ``~/.cache/huggingface/hub``; a
    branch or tag leads to a snapshot through the file of its name under ``refs``.
    """
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    root = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    folder = root / f"models--{repo.replace('/', '--')}"
    commit = _commit(folder, revision or "main")
    snapshot = folder / "snapshots" / commit if commit else None
    return snapshot if snapshot is not None and _holds_files(snapshot) else None


def _holds_files(folder: Path) -> bool:
    """Whether something is in it; a download that failed leaves an empty one."""
    try:
        return any(folder.iterdir())
    except OSError:
        return False


def _commit(folder: Path, revision: str) -> str | None:
    if _COMMIT.match(revision):
        return revision
    ref = folder / "refs" / revision
    if ".." in ref.parts or not ref.is_file():
        return None
    commit = ref.read_text(encoding="utf-8", errors="replace").strip()
    return commit if _COMMIT.match(commit) else None


def find_modelscope(repo: str) -> Path | None:
    """The directory of a model in ModelScope's cache, None where it is not there.

    The cache is ``$MODELSCOPE_CACHE`` or ``~/.cache/modelscope``; a dot in a name may be written
    as three underscores there.
    """
    root = Path(os.environ.get("MODELSCOPE_CACHE") or Path.home() / ".cache" / "modelscope")
    return next((path for path in _modelscope_folders(root, repo) if _holds_files(path)), None)


def _modelscope_folders(root: Path, repo: str) -> Iterable[Path]:
    for base in (root / "hub" / "models", root / "hub", root / "models", root):
        yield base / repo
        yield base / repo.replace(".", "___")
