"""The readiness gate, and what a stopwatch makes of workers and cores."""

import json
import os
from pathlib import Path

from commands import vram
from rehearse_server import rehearsal
from vramledger.trial.conduct.course import cores_for


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
    assert json.loads(done.stdout)["reason"] == "no request is answered (http_500)"


def test_workers_have_cores_of_their_own_where_there_are_enough() -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        assert cores_for(1) == (cores[-1],)
        assert cores_for(len(cores) - 1) == tuple(cores[1:])
    assert cores_for(len(cores)) == (None,) * len(cores)
    assert cores_for(len(cores) + 3) == (None,) * (len(cores) + 3)
