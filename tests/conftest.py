"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("shared machine", deadline=None)  # times mean nothing here
settings.load_profile("shared machine")

_DATA = "VRAM_TEST_DATA"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of reference data beside the checkout; tests that need it skip without it."""
    given = os.environ.get(_DATA)
    path = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"needs the reference data folder beside the checkout (or ${_DATA})")
    return path


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the user's hub settings, colours or terminal width."""
    for name in ("HF_ENDPOINT", "HF_TOKEN", "HF_HUB_OFFLINE", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
