"""The real engine: one process of it for the whole session, fed with launch arguments."""

import importlib.util
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

from live.real_engine import Engine
from live.tiny_models import TINY, write_model

_ROOT = Path(__file__).parents[2]


def _prepare() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prepare", _ROOT / "scripts/live/prepare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _without(reason: str) -> NoReturn:
    """Skip, or fail where the tier is required."""
    if os.environ.get("VRAM_LIVE_REQUIRED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def engine_python() -> Path:
    """The interpreter of the prepared environment; without one the test skips, or fails if asked to."""
    prepare = _prepare()
    if not prepare.is_ready():
        _without("the engine's environment is not prepared; run make live")
    python: Path = prepare.engine_python()
    return python


@pytest.fixture(scope="session")
def llama_cpp_python() -> Path:
    """The interpreter with llama.cpp's server; without one the test skips, or fails if asked to."""
    prepare = _prepare()
    if not prepare.llama_cpp_is_ready():
        _without("llama.cpp's environment is not prepared; run make live")
    python: Path = prepare.llama_cpp_python()
    return python


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The file of a small model that speaks; without it the test skips, or fails if asked to."""
    prepare = _prepare()
    if not prepare.smollm2_is_ready():
        _without("the weights of SmolLM2 are not prepared; run make live")
    weights: Path = prepare.smollm2_weights()
    return weights


@pytest.fixture(scope="session")
def engine(engine_python: Path) -> Iterator[Engine]:
    """The engine in this process tree; starts are one after another."""
    with tempfile.TemporaryDirectory() as folder:
        running = Engine(engine_python, Path(folder, "engine.log"))
        yield running
        running.close()


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every tiny model as a directory with configuration and tokenizer, no weights."""
    home = tmp_path_factory.mktemp("models")
    return {name: write_model(home / name, config) for name, config in TINY.items()}
