"""The readiness gate, and what a stopwatch makes of workers and cores."""

import json
import os
from pathlib import Path

import pytest

from commands import vram
from nvml_stand_in import built_nvml
from rehearse_server import rehearsal
from vramledger.errors import BadInput
from vramledger.record.document import Description, Ended, Origin
from vramledger.record.run import read_run
from vramledger.record.samples import GPU
from vramledger.trial.conduct.course import cores_for
from vramledger.trial.conduct.readiness_told import readiness_of


def test_a_server_that_answers_steadily_is_ready(tmp_path: Path) -> None:
    with rehearsal() as server:
        done = vram(["trial", "warm", "--url", server.address, "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["schema"], found["basis"]) == ("vramledger.trial-warm/1", "rehearsed")
    assert (found["ready"], found["reason"]) == (True, None)
    assert [each["stage"] for each in found["memory"]] == [
        "before load",
        "after load",
        "after the first request",
        "at rest",
    ]
    assert found["memory"][0]["reason"] == "the server was up already"
    assert found["first_request_s"] > 0
    assert len(found["round_s"]) >= 2
    assert found["kv_capacity_tokens"] > 0
    run = read_run(tmp_path / found["run"])
    assert run.description.origin is Origin.REHEARSED
    assert run.description.ended is Ended.COMPLETE
    assert run.description.in_effect.engine == "vllm"
    stages = [each for each in run.journal().entries if each.event == "stage"]
    assert [each.details["name"] for each in stages] == [each["stage"] for each in found["memory"]]
    done_s = run.requests.numbers("done_s")["done_s"]
    assert len(done_s) == 1 + 4 * len(found["round_s"])
    assert stages[1].t_s < done_s.min() < stages[2].t_s  # one clock
    again = vram(["trial", "show", found["run"], "--json"], tmp_path)
    assert (again.returncode, json.loads(again.stdout)["memory"]) == (0, found["memory"])
    assert "rehearsed" in vram(["trial", "list"], tmp_path).stdout


def test_gpu_memory_is_recorded_at_every_stage(tmp_path: Path) -> None:
    driver = tmp_path / "driver"
    driver.mkdir()
    settings = os.environ | {"LD_LIBRARY_PATH": str(built_nvml(driver))}
    with rehearsal() as server:
        command = ["trial", "warm", "--url", server.address, "-o", "run"]
        done = vram(command, tmp_path, env=settings)
    assert done.returncode == 0, done.stderr
    assert "memory at rest: GPU-" in done.stdout
    rows = read_run(tmp_path / "run").table(GPU).numbers("t_s", "used_bytes")
    assert len(set(rows["t_s"].tolist())) == 3


def test_a_gate_may_leave_nothing_behind(tmp_path: Path) -> None:
    with rehearsal() as server:
        done = vram(["trial", "warm", "--url", server.address, "--no-record", "--json"], tmp_path)
    assert json.loads(done.stdout)["run"] is None
    assert not list(tmp_path.iterdir())


def test_a_server_that_is_not_there_in_time_is_not_ready(tmp_path: Path) -> None:
    done = vram(["trial", "warm", "--url", "http://127.0.0.1:9", "--within", "1s"], tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("NOT READY: the server does not list its models, after ")


def test_a_server_that_fails_every_request_is_not_ready(tmp_path: Path) -> None:
    with rehearsal("--fault", "error:1") as server:
        done = vram(
            ["trial", "warm", "--url", server.address, "--within", "3s", "--json"], tmp_path
        )
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["reason"] == "no request is answered (http_500)"
    assert read_run(tmp_path / found["run"]).description.ended is Ended.CUT
    assert vram(["trial", "show", found["run"]], tmp_path).returncode == 1


@pytest.mark.parametrize("told", [7, {}, {"ready": True, "waited_s": "x"}, []])
def test_a_gate_whose_description_is_damaged_is_refused(told: object) -> None:
    about = Description(origin=Origin.MEASURED, name="gate").model_copy(update={"readiness": told})
    read = Description.model_validate_json(about.model_dump_json())
    with pytest.raises(BadInput, match="readiness in its run"):
        readiness_of(read)


def test_workers_have_cores_of_their_own_where_there_are_enough() -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        assert cores_for(1) == (cores[-1],)
        assert cores_for(len(cores) - 1) == tuple(cores[1:])
    assert cores_for(len(cores)) == (None,) * len(cores)
    assert cores_for(len(cores) + 3) == (None,) * (len(cores) + 3)
