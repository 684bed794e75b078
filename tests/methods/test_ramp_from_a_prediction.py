"""A ramp begun where a simulation ends: at a rate, with a calibration, and against a server that is another deployment."""

import json
from pathlib import Path
from typing import Any

import pytest

from commands import vram_here
from rehearse_server import GPU, MODEL, rehearsal
from stored_workloads import request, stored
from vramledger.methods.ramp.prediction import Prediction
from vramledger.record.document import Deployment

LAUNCH = f"vllm serve {MODEL} --max-model-len 4096"
SHORT = f"vllm serve {MODEL} --max-model-len 2048 --block-size 32"
SIMULATED = ["--launch", LAUNCH, "--gpu", GPU]


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    rows = (
        request(row, arrival_s=row * 0.05, input_tokens=30, output_tokens=8) for row in range(60)
    )
    return stored(tmp_path / "w.parquet", rows)


def ramped(
    workload: Path, launch: str, *options: str, shown: list[str] | None = None
) -> tuple[int, dict[str, Any]]:
    """Its exit code and its object; into `shown` what the terminal tells of it, while the server is still there to end what is open."""
    asked = ["--workload", str(workload), "--cold", "--steps", "2", "--step-for", "1s", "-o", "r"]
    with rehearsal("--speed", "5", launch=launch) as server:
        done = vram_here(
            ["trial", "ramp", "--url", server.address, *asked, *options, "--json"], workload.parent
        )
        if shown is not None:
            again = vram_here(["trial", "resume", "r"], workload.parent)
            assert again.stdout, again.stderr
            shown.append(again.stdout)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_at_a_rate_it_begins_below_what_was_simulated(tmp_path: Path, workload: Path) -> None:
    _, found = ramped(workload, LAUNCH, *SIMULATED, "--limit", "ttft_s p95 <= 2")
    prediction = found["prediction"]
    assert (prediction["evidence"], prediction["foreign"], prediction["server"]) == (False, [], [])
    first = found["steps"][0]["rate_scale"]
    assert first == pytest.approx(0.7 * prediction["level"], rel=0.05)
    kept = json.loads((tmp_path / "r" / "ramp.json").read_text())
    assert Prediction.from_json(kept["prediction"]).level == prediction["level"]
    assert kept["result"] == found
    assert found["origin"] == "rehearsed"


def test_a_calibration_of_something_else_is_a_prediction_only(
    tmp_path: Path, workload: Path
) -> None:
    """That of a simulated run; nothing is judged by it, the server's own steps decide."""
    simulated = ["simulate", LAUNCH, "--gpu", GPU, "--workload", "w.parquet", "-o", "run"]
    assert vram_here(simulated, tmp_path).returncode == 0
    assert vram_here(["calibrate", "run", "-o", "cal.json"], tmp_path).returncode == 0
    options = [*SIMULATED, "--calibration", "cal.json", "--most", "1", "--start", "1"]
    shown: list[str] = []
    code, found = ramped(workload, LAUNCH, *options, shown=shown)
    assert found["prediction"]["foreign"] == [
        "Prediction only, no evidence: the calibration is of a simulated run."
    ]
    assert code == {"HOLDS": 0, "DOES NOT HOLD": 1, "INCONCLUSIVE": 3}[found["verdict"]]
    assert "a place to start, and no evidence. Prediction only, no evidence: the calibration is of a simulated run." in shown[0]  # fmt: skip


def test_a_server_that_is_another_deployment_is_told(workload: Path) -> None:
    options = [*SIMULATED, "--most", "1", "--start", "1"]
    _, found = ramped(workload, SHORT, *options)
    assert found["prediction"]["server"] == [
        "--max-model-len 2048, simulated with 4096",
        "--block-size 32, simulated with 16",
    ]


def test_what_a_server_does_not_tell_is_not_compared() -> None:
    told = Prediction(1.0, "assumed", of={"engine_version": "0.32.0", "model": "a/m", "arguments": {"block-size": 16}})  # fmt: skip
    assert told.beside(Deployment()).server == ()
    assert told.beside(Deployment(engine_version="0.32.0", model="m")).server == ()
    other = told.beside(Deployment(engine_version="0.29.1", model="x", arguments={"block_size": 32}))  # fmt: skip
    assert other.server == (
        "engine's version 0.29.1, simulated with 0.32.0",
        "model x, simulated with a/m",
        "--block-size 32, simulated with 16",
    )
