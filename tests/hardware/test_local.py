"""The GPUs of this machine, read through a library that stands in for the driver's."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nvml_stand_in import built_nvml
from vramledger.hardware.catalogue import find

READ = """
import json
from vramledger.errors import VramError
from vramledger.hardware.catalogue import find
from vramledger.hardware.local import local
try:
    found = [
        {"name": g.accelerator.name, "total": g.accelerator.total.value, "free": g.free_bytes,
         "basis": g.accelerator.total.basis, "source": g.accelerator.total.source,
         "bandwidth": g.accelerator.bandwidth_gb_s, "uuid": g.uuid}
        for g in local()
    ]
    print(json.dumps({"gpus": found, "auto": find("auto").name}))
except VramError as error:
    print(json.dumps({"error": str(error), "code": error.exit_code}))
"""


@pytest.fixture(scope="module")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_nvml(tmp_path_factory.mktemp("nvml"))


def read(library: Path, **environment: str) -> dict[str, Any]:
    result = subprocess.run(
        [sys.executable, "-c", READ],
        env={**os.environ, "LD_LIBRARY_PATH": str(library), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_a_known_gpu_gets_the_catalogues_figures_and_the_measured_total(fake_library: Path) -> None:
    found = read(fake_library)
    assert found["auto"] == "H100-80GB-SXM"
    (gpu,) = found["gpus"]
    assert gpu["total"] == pytest.approx((81559 - 551) / 1024)
    assert gpu["free"] == (81559 - 551 - 1024) << 20
    assert gpu["basis"] == "measured"
    assert gpu["source"] == "NVML on this machine, driver 580.65.06"
    assert gpu["bandwidth"] == 3350


def test_of_tiers_that_share_a_name_the_measured_size_decides(fake_library: Path) -> None:
    name = {"FAKE_NVML_NAME": "NVIDIA GeForce RTX 4090"}
    stock = read(fake_library, **name, FAKE_NVML_TOTAL_MIB="24564")
    refit = read(fake_library, **name, FAKE_NVML_TOTAL_MIB="49140")
    assert (stock["auto"], refit["auto"]) == ("RTX-4090", "RTX-4090-48GB")


def test_an_unknown_gpu_keeps_its_own_name_and_only_what_the_driver_says(
    fake_library: Path,
) -> None:
    (gpu,) = read(fake_library, FAKE_NVML_NAME="NVIDIA X900", FAKE_NVML_TOTAL_MIB="102400")["gpus"]
    assert gpu["name"] == "NVIDIA X900"
    assert gpu["total"] == pytest.approx((102400 - 551) / 1024)
    assert gpu["bandwidth"] is None


def test_a_gpu_that_is_cut_shows_its_slices(fake_library: Path) -> None:
    found = read(fake_library, FAKE_NVML_SLICE="NVIDIA H100 80GB HBM3 MIG 1g.10gb")
    assert [gpu["name"] for gpu in found["gpus"]] == ["H100-80GB-SXM-MIG-1g.10gb"] * 2
    assert found["gpus"][0]["total"] == 9.75


def test_with_an_old_driver_that_does_not_say_what_it_keeps_the_catalogue_stands(
    fake_library: Path,
) -> None:
    (gpu,) = read(fake_library, FAKE_NVML_OLD="1")["gpus"]
    assert gpu["total"] == find("H100-80GB-SXM").total.value
    assert gpu["free"] == (81559 - 1024) << 20


def test_gpus_of_different_kinds_must_be_told_apart_by_the_user(fake_library: Path) -> None:
    found = read(fake_library, FAKE_NVML_COUNT="2", FAKE_NVML_SECOND="NVIDIA L4")
    assert found["error"] == (
        "--gpu auto found GPUs of different kinds (H100-80GB-SXM, L4); "
        "name the one the engine will use."
    )
    assert found["code"] == 2


def test_a_driver_that_is_not_loaded_is_said(fake_library: Path) -> None:
    found = read(fake_library, FAKE_NVML_INIT="9")
    assert found["error"] == (
        "--gpu auto cannot read this machine: NVML says Driver Not Loaded. It needs an NVIDIA GPU "
        "and its driver; name the card instead, for example --gpu H100-80GB-SXM."
    )
    assert found["code"] == 3


def test_a_driver_without_a_gpu_is_said(fake_library: Path) -> None:
    found = read(fake_library, FAKE_NVML_COUNT="0")
    assert found["error"] == (
        "--gpu auto found the NVIDIA driver but no GPU; name the card instead, "
        "for example --gpu H100-80GB-SXM."
    )
