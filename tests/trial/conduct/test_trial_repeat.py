"""`vram trial repeat` against servers of our own, as a process."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commands import VRAM, vram_here
from rehearse_server import GPU, MODEL, rehearsal
from trial_command import SECONDS, _heed_interrupts, await_phase, interrupt, steady_workload

PLAN = f"""\
name: chat
model: {MODEL}
engine: {{name: vllm, version: "0.33", args: {{max-model-len: 4096}}}}
workload: {{input_tokens: {{p50: 100, max: 400}}, output_tokens: {{p50: 20, max: 90}}, users: 10}}
gpus: [{GPU}]
scenarios:
  daily:
    kind: latency
    contract:
      ttft_s: {{p50: LIMIT, p99: 20}}
      success: 0.9
"""
COUNT = 24


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    return steady_workload(tmp_path / "w.parquet", COUNT, 0.05)


def repeat(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [*VRAM, "trial", "repeat", *options, "--workload", "w.parquet", "--cold"]
    return subprocess.run(
        [*command, "--workers", "1", "-o", "many", "--json"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


@contextmanager
def started(folder: Path, url: str) -> Iterator[subprocess.Popen[str]]:
    command = [*VRAM, "trial", "repeat", "2", "--url", url, "--workload", "w.parquet", "--cold"]
    with subprocess.Popen(
        [*command, "--workers", "1", "-o", "many"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - it calls the system and nothing else
    ) as process:
        yield process
        if process.poll() is None:
            process.kill()


def figure(side: dict[str, Any], name: str, statistic: str | None) -> dict[str, Any]:
    (found,) = (
        each for each in side["figures"] if (each["name"], each["statistic"]) == (name, statistic)
    )
    return dict(found)


def salts(folder: Path) -> set[int]:
    runs = (json.loads(path.read_text()) for path in folder.glob("run-*/run.json"))
    return {run["trial"]["load"]["prompts"]["salt"] for run in runs}


@pytest.mark.usefixtures("workload")
def test_repetitions_become_figures_with_intervals(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.replace("LIMIT", "5"))
    with rehearsal() as server:
        done = repeat(tmp_path, "2", "plan.yaml", "--url", server.address)
        more = repeat(tmp_path, "3", "plan.yaml", "--url", server.address)
    found = json.loads(done.stdout)
    (side,) = found["sides"]
    assert [(run["run"], run["seed"]) for run in side["runs"]] == [("run-001", 0), ("run-002", 1)]
    assert len(salts(tmp_path / "many")) == 3
    ttft = figure(side, "ttft_s", "p95")
    assert (ttft["count"], len(ttft["runs"]["values"])) == (2 * COUNT, 2)
    assert ttft["runs"]["low"] <= ttft["runs"]["mean"] <= ttft["runs"]["high"]
    assert min(ttft["runs"]["values"]) <= ttft["pooled"] <= max(ttft["runs"]["values"])
    shown = [json.loads((tmp_path / "many" / f"run-00{n}" / "run.json").read_text()) for n in (1, 2)]  # fmt: skip
    assert shown[0]["workload_sha256"] == shown[1]["workload_sha256"]
    median, tail, success = side["contract"]["lines"]
    assert (median["asked"], median["standing"]) == ("ttft_s p50 <= 5", "holds")
    assert (tail["standing"], tail["reason"]) == (
        "not decided",
        "a run has 24 values where such a percentile needs 100; make the runs longer with --for, more of them do not help",
    )
    assert success["standing"] == "holds"  # 48 of 48: at least 92.6 % by the exact interval
    assert success["runs"]["low"] == pytest.approx(0.025 ** (1 / 48), abs=1e-5)
    assert done.returncode == 3
    longer = json.loads(more.stdout)
    assert (longer["runs_done"], len(longer["sides"][0]["runs"])) == (3, 3)
    assert json.loads((tmp_path / "many" / "repeat.json").read_text()) == longer
    assert "run-001" not in more.stderr  # what was there is not made again
    told = vram_here(["trial", "show", "many"], tmp_path)
    assert told.returncode == 3
    assert told.stdout.startswith("3 of 3 runs in many\n")
    assert "contract    INCONCLUSIVE, by the interval of 3 runs\n" in told.stdout


@pytest.mark.usefixtures("workload")
def test_a_line_beyond_its_interval_fails(tmp_path: Path) -> None:
    plan = PLAN.replace("LIMIT, p99: 20", "0.001")
    (tmp_path / "plan.yaml").write_text(plan)
    with rehearsal() as server:
        done = repeat(tmp_path, "4", "plan.yaml", "--url", server.address)
    found = json.loads(done.stdout)
    assert done.returncode == (3 if found["inconclusive"] else 1), done.stdout
    assert found["verdict"] == ("not decided" if found["inconclusive"] else "fails")
    assert found["sides"][0]["contract"]["lines"][0]["standing"] == "fails"


@pytest.mark.usefixtures("workload")
def test_two_servers_that_differ_in_one_thing_are_told_apart_by_pairs(tmp_path: Path) -> None:
    slow = f"vllm serve {MODEL} --max-model-len 4096 --block-size 32"
    with rehearsal() as one, rehearsal(launch=slow) as other:
        done = repeat(tmp_path, "2", "--a", one.address, "--b", other.address, "--order", "abba")
    found = json.loads(done.stdout)
    begun = sorted(
        (run["started_at"], run["run"]) for side in found["sides"] for run in side["runs"]
    )
    assert [name for _, name in begun] == ["run-001-a", "run-001-b", "run-002-b", "run-002-a"]
    compared = found["compared"]
    assert compared["pairs"] == 2
    assert compared["differ_in"] == ["--block-size: 16 of A, 32 of B"]
    assert compared["not_attributed"] is None
    a, b = found["sides"]
    values = [figure(side, "e2e_s", "mean")["runs"]["values"] for side in (a, b)]
    (difference,) = (
        each
        for each in compared["differences"]
        if (each["name"], each["statistic"]) == ("e2e_s", "mean")
    )
    expected = [y - x for x, y in zip(*values, strict=True)]
    assert difference["b_less_a"]["values"] == pytest.approx(expected, abs=2e-6)


@pytest.mark.usefixtures("workload")
def test_servers_that_differ_in_several_things_are_not_attributed(tmp_path: Path) -> None:
    other_launch = "vllm serve Qwen/Qwen3-8B --max-model-len 2048"
    with rehearsal() as one, rehearsal(launch=other_launch) as other:
        done = repeat(tmp_path, "2", "--a", one.address, "--b", other.address)
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    refused = found["compared"]["not_attributed"]
    assert refused in found["inconclusive"]
    assert refused.endswith(
        "things differ between the servers, so no effect can be put down to one of them; change one at a time."
    )
    assert f"model: {MODEL} of A, Qwen/Qwen3-8B of B" in found["compared"]["differ_in"]
    assert found["compared"]["differences"]  # they are shown all the same


@pytest.mark.usefixtures("workload")
def test_an_interrupted_series_keeps_what_it_has_and_goes_on(tmp_path: Path) -> None:
    with rehearsal() as server:
        with started(tmp_path, server.address) as process:
            await_phase(tmp_path / "many" / "run-002", "measured", process)
            interrupt(process, signal.SIGINT)
            out, said = process.communicate(timeout=SECONDS)
        assert process.returncode == 130, said
        assert out.startswith("1 of 2 runs in many\nleft out    run-002: interrupted\n")
        assert out.endswith("The rest is still to be made: vram trial resume many\n")
        kept = (tmp_path / "many" / "run-001" / "run.json").read_bytes()
        done = vram_here(["trial", "resume", "many", "--json"], tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == (3 if found["inconclusive"] else 0), done.stderr
    assert [run["run"] for run in found["sides"][0]["runs"]] == ["run-001", "run-002-again-2"]
    assert found["left_out"] == [{"run": "run-002", "ended": "interrupted"}]
    assert (tmp_path / "many" / "run-001" / "run.json").read_bytes() == kept


@pytest.mark.usefixtures("workload")
def test_a_killed_series_goes_on_in_the_same_run(tmp_path: Path) -> None:
    with rehearsal() as server:
        with started(tmp_path, server.address) as process:
            await_phase(tmp_path / "many" / "run-002", "measured", process)
            process.kill()
            process.communicate(timeout=SECONDS)
        done = vram_here(["trial", "resume", "many", "--json"], tmp_path)
    found = json.loads(done.stdout)
    (side,) = found["sides"]
    assert [run["run"] for run in side["runs"]] == ["run-001", "run-002"]
    assert [run["offered"] for run in side["runs"]] == [COUNT, COUNT]


@pytest.mark.usefixtures("workload")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("1", "--url", "http://x"), "1 is no number of repetitions; take 2 to 999: one run alone says nothing on how the next will differ."),
        (("2", "--a", "http://x"), "Two servers are tried in turn, and --b is missing; give both, or --url for one."),
        (("2", "--a", "http://x", "--b", "http://x/"), "--a and --b are both http://x; name two servers, or repeat one with --url."),
        (("2", "--url", "http://x", "--a", "http://x", "--b", "http://y"), "--url is one server, --a and --b are two; give the one or the others."),
        (("2", "--url", "http://x", "--order", "abba"), "--order is that of two servers; give them with --a and --b."),
    ],
)  # fmt: skip
def test_what_means_nothing_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = repeat(tmp_path, *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "many").exists()
