"""`vram trial run` against the rehearsal server: what it prints and records is what the server says happened."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import SECONDS, VRAM, vram
from rehearse_server import Rehearsed, rehearsal
from trial_command import entries, result_of, steady_workload, trial_run
from vramledger.record.document import Ended, Origin
from vramledger.record.run import Run, read_run
from vramledger.record.soundness import check_sound
from vramledger.workload.store import read_metadata

COUNT = 40
WARM_UP = 8  # a round; whole rounds are sent


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("truth") / "truth.csv"


@pytest.fixture(scope="module")
def server(truth: Path) -> Iterator[Rehearsed]:
    with rehearsal(truth=truth) as running:
        yield running


@pytest.fixture(scope="module")
def folder(server: Rehearsed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of all requests."""
    home = tmp_path_factory.mktemp("trial")
    workload = steady_workload(home / "steady.parquet", COUNT)
    done = trial_run(server.address, workload, home / "run", "--json", "--seed", "3")
    (home / "result.json").write_text(done.stdout)
    result_of(done)
    return home / "run"


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return read_run(folder)


@pytest.fixture(scope="module")
def result(folder: Path) -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads((folder.parent / "result.json").read_text())
    return found


def test_every_request_is_offered_and_answered(result: dict[str, Any]) -> None:
    assert result["schema"] == "vramledger.trial/1"
    assert result["requests"] == {
        "offered": COUNT,
        "ok": COUNT,
        "failed": 0,
        "rejected": 0,
        "cancelled": 0,
        "timed_out": 0,
        "incomplete": 0,
    }
    assert result["ended"] == "complete"
    assert result["basis"] == "rehearsed"
    assert (result["preemptions"], result["errors"]) == (0, [])


def test_a_reader_that_has_gone_changes_neither_record_nor_exit_code(
    server: Rehearsed, tmp_path: Path
) -> None:
    workload = steady_workload(tmp_path / "steady.parquet", 5)
    reading, writing = os.pipe()
    os.close(reading)
    command = [
        *VRAM,
        "trial",
        "run",
        "--url",
        server.address,
        "--workload",
        str(workload),
        "-o",
        "run",
        "--json",
    ]
    with os.fdopen(writing, "w") as gone:
        done = subprocess.run(command, cwd=tmp_path, stdout=gone, stderr=gone, check=False, timeout=SECONDS)  # fmt: skip
    assert read_run(tmp_path / "run").description.ended is Ended.COMPLETE
    assert done.returncode == vram(["trial", "show", "run"], tmp_path).returncode


def test_the_record_is_sound_and_says_what_it_is(run: Run) -> None:
    check_sound(run)
    run.check_unchanged()
    about = run.description
    assert (about.origin, about.ended, about.seed) == (Origin.REHEARSED, Ended.COMPLETE, 3)
    assert about.in_effect.engine == "vllm"
    assert about.workload_sha256 is not None
    assert about.clock.wall_at_zero is not None
    assert about.clock.offsets_s == {}  # the rehearsal server tells no time
    assert about.model_extra is not None
    assert len(about.model_extra["trial"]["load"]["prompts"]["lexicon"]["units"]) >= 16
    assert not (run.path / "load").exists()
    assert not (run.path / "segments").exists()


def test_first_tokens_are_stamped_when_the_server_sent_them(
    run: Run, server: Rehearsed, result: dict[str, Any]
) -> None:
    table = run.requests.read(("row", "server_request_id", "first_content_s", "done_s"))
    zero_s = run.description.model_extra["trial"]["zero_ns"] / 1e9  # type: ignore[index]
    true = {each["request_id"]: each for each in server.true_rows(COUNT)}
    lags = []
    for row in table.to_pylist():
        if row["row"] is not None:
            at = true[row["server_request_id"]]
            assert row["first_content_s"] + zero_s > float(at["received_s"])
            lags.append(row["first_content_s"] + zero_s - float(at["first_content_s"]))
    assert len(lags) == COUNT
    assert result["client_bottleneck"] or near(lags) < 0.005


def near(lags: list[float]) -> float:
    """What a quarter of them stay within: on a busy machine either side may be late with its stamp."""
    return sorted(map(abs, lags))[len(lags) // 4]


def test_tokens_are_those_of_the_workload_and_of_usage(run: Run, result: dict[str, Any]) -> None:
    names = (
        "row", "input_tokens_asked", "input_tokens_got", "output_tokens_asked", "output_tokens_got", "tokens_basis",
    )  # fmt: skip
    for row in run.requests.read(names).to_pylist():
        assert row["input_tokens_got"] == row["input_tokens_asked"]
        assert row["output_tokens_got"] == row["output_tokens_asked"]
        assert row["tokens_basis"] == "usage"
    assert result["lengths"]["max_error_tokens"] == 0
    wanted = sum(8 + row % 5 for row in range(COUNT))
    assert result["server_generation_tokens"] == wanted  # as the server's own counter grew


def test_the_warm_up_is_apart_from_what_is_measured(run: Run, result: dict[str, Any]) -> None:
    rows = run.requests.read(("request_id", "row", "due_s")).to_pylist()
    warm = [row for row in rows if row["row"] is None]
    assert result["warm_up"]["requests"] == len(warm)
    assert len(warm) % WARM_UP == 0
    assert len(warm) >= 2 * WARM_UP
    assert {row["request_id"] for row in warm} == set(range(-len(warm), 0))
    measured = next(
        each for each in run.journal().entries if each.details.get("name") == "measured"
    )
    assert all(row["due_s"] < measured.t_s for row in warm)
    assert all(row["due_s"] >= measured.t_s for row in rows if row["row"] is not None)


def test_requests_are_due_when_the_workload_says(run: Run) -> None:
    measured = next(
        each for each in run.journal().entries if each.details.get("name") == "measured"
    )
    for row in run.requests.read(("row", "due_s")).to_pylist():
        if row["row"] is not None:
            assert row["due_s"] - measured.t_s == pytest.approx(row["row"] * 0.1, abs=1e-6)


def test_phases_and_workers_are_in_the_journal(folder: Path) -> None:
    found = entries(folder)
    phases = [each.details["name"] for each in found if each.event == "phase"]
    assert phases == ["warm_up", "measured", "drained", "closing"]
    (ended,) = [each for each in found if each.event == "worker_ended"]
    assert ended.details["how"] == "complete"
    assert ended.details["health"]["late_dispatch_s"]["p99"] >= 0


def test_latencies_count_from_due_and_beside_it_from_the_sending(result: dict[str, Any]) -> None:
    assert (
        0
        < result["ok_only_from_dispatch"]["ttft_s"]["mean"]
        <= result["ttft_s"]["mean"]
        <= result["e2e_s"]["mean"]
    )
    assert result["ttft_s"] == result["ok_only"]["ttft_s"]  # nothing failed
    assert set(result["itl_s"]) == {"mean", "p50", "p95", "p99", "max"}
    assert result["late_dispatch_s"]["p99"] >= 0
    assert result["client_bottleneck"] in (True, False)
    assert 0 <= result["kv_usage"]["max"] <= 1
    assert result["kv_tokens"]["max"] <= result["kv_capacity_tokens"]


def test_failures_are_infinite_among_all_and_absent_from_successes(tmp_path: Path) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 60, 0.05)
    with rehearsal("--fault", "reject:0.2", "--fault", "reset:0.1", "--seed", "4") as server:
        done = trial_run(server.address, workload, tmp_path / "run", "--json", "--cold")
    found = result_of(done)
    counts = found["requests"]
    assert counts["offered"] == sum(counts[name] for name in counts if name != "offered") == 60
    assert counts["rejected"] > 0
    assert counts["ok"] > 0
    assert found["ttft_s"]["max"] == found["e2e_s"]["p99"] == found["e2e_s"]["mean"] == "inf"
    assert found["ok_only"]["e2e_s"]["max"] < 60
    by_class = {each["class"]: each for each in found["errors"]}
    assert by_class["http_429"]["message"] == (
        "The server or a gateway limits the rate, and says when to come back where it does."
    )
    assert sum(each["count"] for each in found["errors"]) == 60 - counts["ok"]
    assert found["warm_up"] is None  # a cold pass
    check_sound(read_run(tmp_path / "run"))


def test_a_closed_loop_keeps_its_clients_busy_for_the_time_asked(
    server: Rehearsed, tmp_path: Path
) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 10)
    options = ("--closed", "3", "--for", "2s", "--api", "completions", "--token-ids", "--json")
    found = result_of(trial_run(server.address, workload, tmp_path / "run", *options))
    assert found["ended"] == "cut"
    assert found["requests"]["ok"] == found["requests"]["offered"]
    assert (
        found["requests"]["ok"] > read_metadata(workload).rows
    )  # the workload went round and round
    assert found["running"]["max"] <= 3
    assert found["in_effect"]["chat_template"] == "raw"
    assert found["prompts"] == "Prompts are lists of token ids, which the server takes as they are."
