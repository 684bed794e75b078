"""The driver's library, as far as tests need it, compiled from C."""

import shutil
import subprocess
from pathlib import Path

import pytest


def built_nvml(folder: Path) -> Path:
    """A folder with a stand-in for the driver's library, for LD_LIBRARY_PATH; skips without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler to build the stand-in for the driver's library")
    source = Path(__file__).parent / "hardware" / "fake_nvml.c"
    target = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", target, source], check=True)
    return folder
