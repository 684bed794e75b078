"""A Ray cluster simulates the points that the cores here simulate, to the last byte."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ray_cluster import Cluster
from stored_workloads import chats, stored
from swept import base, quiet
from vramledger.cli.main import run
from vramledger.errors import ExitCode
from vramledger.methods.sweep.on_ray import RayWorkers
from vramledger.methods.sweep.point import point_of
from vramledger.methods.sweep.run import Sweep

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
SWEEP = (
    "sweep", LAUNCH, "--gpu", "H100-80GB-SXM", "--workload", "w.parquet", "--grid", "--set", "max-num-seqs=1..16",
    "--set", "rate-scale=1,4", "--set", "tp=2,3", "--limit", "ttft p95 <= 1",
)  # fmt: skip
pytestmark = [
    pytest.mark.scale,
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # of Ray's own client
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stored(tmp_path / "w.parquet", chats(20, span_s=60))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_cluster_gives_the_identical_results(folder: Path, cluster: Cluster) -> None:
    assert run([*SWEEP, "--jobs", "1", "-o", "here.parquet"]) == ExitCode.HOLDS
    here = (folder / "here.parquet").read_bytes()
    for place in (cluster.inside, cluster.outside):
        assert run([*SWEEP, "--ray", place, "-o", "there.parquet"]) == ExitCode.HOLDS
        assert (folder / "there.parquet").read_bytes() == here
        (folder / "there.parquet").unlink()


@pytest.mark.usefixtures("folder")
def test_a_cluster_takes_up_what_the_cores_here_began(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    few = [part.replace("1..16", "1,2") for part in SWEEP]
    run([*few, "--jobs", "1", "-o", "s.parquet", "--json"])
    begun = json.loads(capsys.readouterr().out)["done"]
    run([*SWEEP, "--ray", cluster.inside, "-o", "s.parquet", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["reused"], found["done"]) == (begun, found["asked"])


def test_an_interruption_keeps_what_the_cluster_did(folder: Path, cluster: Cluster) -> None:
    one = base(folder)
    points = tuple(point_of({"max-num-seqs": str(count)}) for count in range(1, 33))
    file = folder / "s.parquet"

    def tired(done: int, _all: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    for place in (cluster.inside, cluster.outside):
        with Sweep(one, RayWorkers(place), file) as sweep:
            stopped = sweep.play(points, tired)
        assert (stopped.interrupted, len(stopped.rows)) == (True, 5)
        assert pq.read_metadata(file).num_rows == 5
        with Sweep(one, RayWorkers(place), file) as sweep:
            whole = sweep.play(points, quiet)
        assert (whole.interrupted, whole.reused, len(whole.rows)) == (False, 5, 32)
        file.unlink()


@pytest.mark.usefixtures("folder")
def test_an_address_without_a_cluster_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for place in ("127.0.0.1:1", "ray://127.0.0.1:1", "nowhere"):
        assert run([*SWEEP, "--ray", place]) == ExitCode.BAD_INPUT
        said = capsys.readouterr().err
        assert said.startswith(f"vram: No Ray cluster answers at {place} (")
        assert said.endswith("give its address, or leave --ray out to use the cores here.\n")
