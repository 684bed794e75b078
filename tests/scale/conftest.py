"""What the tests against Spark, Ray and PostgreSQL need; without it they skip, unless it is required."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import ray_cluster
from invented_workload import rows_of_all_kinds, stored
from postgres_server import Server, programs, running

_REQUIRED = "VRAM_SCALE_REQUIRED"


def absent(what: str) -> None:
    """Skip, or fail where `make scale` promised that it is there."""
    message = f"{what}; run make scale, which installs it"
    if os.environ.get(_REQUIRED):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload in which every column holds something."""
    path = tmp_path_factory.mktemp("scale") / "w.parquet"
    stored(rows_of_all_kinds(1500, 7), path)
    return path


@pytest.fixture(scope="session")
def java() -> None:
    if find_spec("pyspark") is None:
        absent("Spark needs pyspark")
    if shutil.which("java") is None:
        absent("Spark needs Java 17")


@pytest.fixture(scope="session")
def cluster() -> Iterator[ray_cluster.Cluster]:
    """A Ray cluster of our own, of one machine with two cores."""
    if find_spec("ray") is None:
        absent("sweeps on a cluster need Ray")
    with (
        tempfile.TemporaryDirectory(prefix="vram-ray-") as home,
        ray_cluster.running(Path(home), cores=2) as found,
    ):
        yield found


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server of our own."""
    folder = programs()
    if folder is None:
        absent("these tests need the programs of PostgreSQL")
    assert folder is not None
    with (
        tempfile.TemporaryDirectory(prefix="vram-pg-") as home,
        running(Path(home), folder) as server,
    ):
        yield server
