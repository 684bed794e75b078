"""The summary, the list and the exports of runs whose every row is known."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from commands import said, vram_here
from recorded_runs import measured_run
from recorded_trials import GIB, described, small_trial
from vramledger.errors import BadInput
from vramledger.record.document import Deployment
from vramledger.record.journal import Entry
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.run import read_run
from vramledger.report.trial import trial_text
from vramledger.report.trial_list import list_text
from vramledger.trial.conduct.history import story_of
from vramledger.trial.conduct.listing import runs_in
from vramledger.trial.conduct.summary import summarise, trial_of


def test_figures_are_those_of_the_measured_part(tmp_path: Path) -> None:
    found = summarise(read_run(small_trial(tmp_path / "run")))
    assert (found.offered, found.requests["ok"], found.requests["rejected"]) == (4, 3, 1)
    ttft = found.latencies.offered["ttft_s"]
    assert ttft.p50 == pytest.approx(0.501)
    assert (ttft.p95, ttft.max) == (float("inf"), float("inf"))
    assert found.latencies.ok["ttft_s"].max == pytest.approx(0.501)
    assert found.latencies.ok_from_dispatch["ttft_s"].max == pytest.approx(0.5)
    assert found.latencies.itl_s.count == 3  # 10 ms, 10 ms, 30 ms
    assert found.latencies.itl_s.max == pytest.approx(0.03)
    assert found.latencies.itl_mean_s.count == 2
    assert found.latencies.itl_mean_s.max == pytest.approx(0.02)
    assert found.latencies.late_dispatch_s.p99 == pytest.approx(0.001)
    assert found.server.preemptions == 3  # one before the restart, two after it
    assert found.server.levels["kv_usage"].max == 0.5  # of the fuller engine, inside the span
    assert found.server.levels["running"].max == 6  # of both engines
    assert found.server.kv_tokens.max == 5_000
    assert found.server.gpu_bytes.max == 12 * GIB
    assert found.server.memory_bytes["GPU-1"].p50 == 9 * GIB
    assert [(each.name, each.count) for each in found.errors] == [("http_429", 1)]
    assert (found.client_bottleneck, found.inconclusive) == (False, ())


def test_a_client_that_was_the_bottleneck_makes_a_run_inconclusive(tmp_path: Path) -> None:
    why = "The client was the bottleneck: its loop was late; use more workers, or cores that nothing else uses."
    folder = small_trial(tmp_path / "run", why)
    done = vram_here(["trial", "show", str(folder)], tmp_path)
    assert done.returncode == 3
    assert f"INCONCLUSIVE: {why}" in done.stdout
    found = json.loads(vram_here(["trial", "show", str(folder), "--json"], tmp_path).stdout)
    assert (found["verdict"], found["client_bottleneck"]) == ("INCONCLUSIVE", True)
    assert found["inconclusive"] == [why]


def test_the_summary_names_its_basis_and_its_failures(tmp_path: Path) -> None:
    done = vram_here(["trial", "show", str(small_trial(tmp_path / "run"))], tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("MEASURED: m w\n")
    assert "requests    4 offered: 3 ok, 1 rejected" in done.stdout
    assert (
        "http_429    1 x The server or a gateway limits the rate, and says when to come back where it does."
        in done.stdout
    )
    assert "GPU memory  GPU-0: p50 10.00 GiB, p95 12.00 GiB, p99 12.00 GiB, max 12.00 GiB" in done.stdout  # fmt: skip


def test_a_run_that_is_no_trial_is_refused(tmp_path: Path) -> None:
    measured_run(tmp_path / "other")
    assert said(["trial", "show", "other"], tmp_path, vram_here) == (
        "The run 'a run' is measured and no trial; name a folder that vram trial run wrote."
    )


def test_runs_are_listed_whatever_their_state(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    small_trial(runs / "a-trial")
    with RecordedRun.start(runs / "b-open", described()) as run:
        done = vram_here(["trial", "list", "--json"], tmp_path)
        shown = vram_here(["trial", "list"], tmp_path).stdout
        run.note(0.0, "nothing")
    (runs / "c-broken").mkdir()
    (runs / "c-broken" / "run.json").write_text("{")
    (runs / "not-a-run").mkdir()
    found = json.loads(done.stdout)["runs"]
    assert [(each["ended"], each["requests"]) for each in found] == [("complete", 4), (None, None)]
    assert "not closed: vram trial resume" in shown
    broken = json.loads(vram_here(["trial", "list", "--json"], tmp_path).stdout)["runs"][2]
    assert "is not a JSON object" in broken["problem"]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    small_trial(tmp_path / "run")
    for name in ("csv", "json", "aiperf", "guidellm", "llm-d"):
        done = vram_here(["trial", "export", "run", "--format", name, "-o", name], tmp_path)
        assert done.returncode == 0
    return tmp_path


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_our_own_exports_hold_the_rows_and_the_summary(exported: Path) -> None:
    with (exported / "csv" / "requests.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["row"] for row in rows] == ["0", "1", "2", "3"]
    assert rows[1]["chunk_offset_us"] == "[0, 10000, 40000]"
    assert rows[3]["first_content_s"] == ""
    shown = json.loads(vram_here(["trial", "show", "run", "--json"], exported).stdout)
    assert loaded(exported / "json" / "trial.json") == shown
    lines = (exported / "json" / "requests.jsonl").read_text().splitlines()
    assert [json.loads(line)["outcome"] for line in lines] == ["ok", "ok", "ok", "rejected"]


def test_aiperf_gets_its_two_files(exported: Path) -> None:
    lines = (exported / "aiperf" / "profile_export.jsonl").read_text().splitlines()
    first, *_, failed = (json.loads(line) for line in lines)
    assert first["metadata"]["request_start_ns"] == 1_796_119_210_001_000_000
    assert first["metadata"]["benchmark_phase"] == "profiling"
    assert first["metrics"]["time_to_first_token"] == {"value": pytest.approx(500), "unit": "ms"}
    assert first["metrics"]["inter_chunk_latency"] == {"value": [10.0], "unit": "ms"}
    assert failed["error"] == {
        "code": 429,
        "type": "http_429",
        "message": "The server or a gateway limits the rate, and says when to come back where it does.",
    }
    whole = loaded(exported / "aiperf" / "profile_export_aiperf.json")
    assert whole["request_count"] == {"unit": "requests", "avg": 3.0}
    assert whole["time_to_first_token"]["p99"] == pytest.approx(500)
    assert (whole["time_to_first_token"]["count"], whole["origin"]) == (3, "measured")


def test_guidellm_gets_its_report(exported: Path) -> None:
    report = loaded(exported / "guidellm" / "benchmarks.json")
    (benchmark,) = report["benchmarks"]
    assert report["metadata"]["version"] == 2
    assert report["config"]["metadata"]["labels"] == {"origin": "measured"}
    metrics = benchmark["metrics"]
    assert metrics["request_totals"] == {"successful": 3, "errored": 1, "incomplete": 0, "total": 4}
    first = metrics["time_to_first_token_ms"]["successful"]
    assert (first["count"], first["percentiles"]["p99"]) == (3, pytest.approx(500))
    assert metrics["time_to_first_token_ms"]["errored"]["count"] == 0
    assert len(benchmark["requests"]["errored"]) == 1
    assert benchmark["requests"]["successful"][1]["info"]["timings"]["token_iterations"] == 3


def test_llm_d_gets_its_report(exported: Path) -> None:
    report = loaded(exported / "llm-d" / "benchmark_report_v0.2.json")
    aggregate = report["results"]["request_performance"]["aggregate"]
    assert (report["version"], report["run"]["keywords"]) == ("0.2", ["measured"])
    assert (aggregate["requests"]["total"], aggregate["requests"]["failures"]) == (4, 1)
    first = aggregate["latency"]["time_to_first_token"]
    assert (first["units"], first["mean"]) == ("s", pytest.approx(0.5))
    (component,) = report["results"]["observability"]["components"]
    assert component["aggregate"]["kv_cache_usage"]["max"] == 0.5
    assert component["aggregate"]["gpu_memory_usage"]["max"] == 12.0
    assert component["aggregate"]["preemptions"]["mean"] == 3


def test_an_export_overwrites_nothing(exported: Path) -> None:
    assert said(
        ["trial", "export", "run", "--format", "csv", "-o", "csv"], exported, vram_here
    ) == ("csv/requests.csv is there already; name another folder with -o.")


def test_sizing_takes_the_most_that_was_held(tmp_path: Path) -> None:
    small_trial(tmp_path / "run")
    model = "meta-llama/Llama-3.1-8B-Instruct"
    done = vram_here(["size", model, "--from-run", "run", "--gpu", "L40S", "--json"], tmp_path)
    assert done.returncode == 0
    shown = vram_here(["size", model, "--from-run", "run", "--gpu", "L40S"], tmp_path).stdout
    assert (
        "KV tokens held, measured in run: p50 5,000, p95 5,000, p99 5,000, max 5,000; the most counts."
        in shown
    )
    assert (
        "Device memory in use, measured in run, GPU-0: p50 10.00 GiB, p95 12.00 GiB, p99 12.00 GiB, max 12.00 GiB."
        in shown
    )
    assert "run: 6 requests in flight at the peak" in shown
    assert (
        "Lengths below are no lengths that were sent: 6 requests, the most that ran at once, hold the 5,000 tokens together, "
        "833 each." in shown
    )
    assert said(["size", model, "--from-run", "run", "--users", "5"], tmp_path, vram_here) == (
        "--from-run takes load and lengths from what a trial held; leave out --users, --concurrent, --rate, --profile and "
        "--workload."
    )


@pytest.mark.parametrize(
    "details",
    [{}, {"health": []}, {"health": {"late_dispatch_s": 1}}],
)
def test_a_journal_whose_lines_lack_what_belongs_to_them_is_refused(
    details: dict[str, Any],
) -> None:
    with pytest.raises(BadInput) as refused:
        story_of([Entry(1.0, "worker_ended", details)])
    assert str(refused.value) == (
        "A line of the run's journal lacks what belongs to its event; use an unchanged copy of the run."
    )


@pytest.mark.parametrize("value", [1, [1], "x", None])
def test_texts_of_a_trial_that_are_none_are_refused(value: Any) -> None:
    about = described(trial={"unseen": value})
    with pytest.raises(
        BadInput,
        match=r"trial\.unseen in its run\.json is no list of texts; use an unchanged copy\.$",
    ):
        trial_of(about)


def test_a_line_feed_in_what_the_server_calls_itself_makes_no_line(tmp_path: Path) -> None:
    forged = "m\nrequests    40 offered: 40 ok\r\x1b[31m"
    deployment = Deployment(engine="vllm", engine_version="0.32\nINCONCLUSIVE: no", model=forged)
    folder = small_trial(tmp_path / "run", about=described(name=forged, in_effect=deployment))
    said = trial_text(summarise(read_run(folder))).split("\n")
    assert said[0] == r"MEASURED: m\nrequests    40 offered: 40 ok\r\x1b[31m"
    assert said[1] == r"http://localhost:8000, vllm 0.32\nINCONCLUSIVE: no"
    assert [line for line in said if line.startswith("requests")] == [
        "requests    4 offered: 3 ok, 1 rejected"
    ]
    listed = list_text(runs_in(tmp_path), tmp_path).split("\n")
    assert len(listed) == 3
    assert listed[2].endswith(r"m\nrequests    40 offered: 40 ok\r\x1b[31m")
