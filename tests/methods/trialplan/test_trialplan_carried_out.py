"""Files of trials carried out against a rehearsal server: to the end, through faults, kills and lost homes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import VRAM, vram
from planned_trials import answer, carried, carry_words, client_kept_up, ends, plan, trials
from rehearse_server import Rehearsed, rehearsal
from vramledger.methods.trialplan.carry.child import run_child
from vramledger.methods.trialplan.home.courier import Courier
from vramledger.methods.trialplan.home.directory import Directory
from vramledger.record.description import read_description
from vramledger.record.document import Ended
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound

SECONDS = 180.0
SIMULATED = "REHEARSED on a simulated server, not measured. "
SMALL = {
    "name": "small",
    "kind": "variation",
    "scenario": "all",
    "send_s": 2,
    "drain_s": 30,
    "takes_s": 60,
    "settings": {"max-num-seqs": "8"},
}


@pytest.fixture(scope="module")
def server() -> Iterator[Rehearsed]:
    with rehearsal() as running:
        yield running


@pytest.fixture(scope="module")
def quick() -> Iterator[Rehearsed]:
    with rehearsal("--speed", "20") as running:
        yield running


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file() and not each.name.startswith(".")
    }


def test_from_a_plan_to_a_page(tmp_path: Path, server: Rehearsed) -> None:
    """Proposed, written, carried out, copied home, judged: every line by its own bounds; and again, without a new trial."""
    words = ["trial", "plan", str(plan(tmp_path)), "--hours", "2", "-o", "trials.yaml"]
    proposed = vram(words, tmp_path)
    assert proposed.returncode == 0, proposed.stderr
    assert proposed.stdout.startswith("CAN DECIDE: ")
    done = carried(tmp_path / "trials.yaml", server.address, "--home", str(tmp_path / "home"))
    found = answer(done)
    kept_up = client_kept_up(found)
    known, standing = ("measured here", "holds") if kept_up else ("carried over", "not decided")
    assert done.returncode == (0 if kept_up else 3), done.stderr
    assert ends(found) == {"ready": 0, "all": 0 if kept_up else 3}
    assert [(line["asked"], line["known"], line["standing"]) for line in found["lines"]] == [
        ("ttft_s p50 <= 5", known, standing),
        ("success >= 50.00%", known, standing),
    ]
    assert (found["not_home"], found["standing"]) == ([], standing)
    folder = Path(found["folder"])
    assert files(folder) == files(tmp_path / "home")
    page = (folder / "page.md").read_text()
    counts = (
        "2 measured here at 90% confidence, 0"
        if kept_up
        else "0 measured here at 90% confidence, 2"
    )
    verdict = "PASS" if kept_up else "INCONCLUSIVE"
    assert page.startswith(
        f"# {SIMULATED}{verdict}: of 2 lines of the contract {counts} carried over, 0 unknown.\n"
    )
    began = (folder / "02-all" / "run.json").stat().st_mtime_ns
    again = carried(tmp_path / "trials.yaml", server.address)
    assert (again.returncode, answer(again)["lines"]) == (done.returncode, found["lines"])
    assert (folder / "02-all" / "run.json").stat().st_mtime_ns == began


def test_a_failure_spares_the_rest(tmp_path: Path) -> None:
    plan(tmp_path, success=0.9)
    file = trials(tmp_path, SMALL)
    with rehearsal("--fault", "error:0.5") as server:
        done = carried(file, server.address, "--restart-command", "touch started")
    found = answer(done)
    success = next(line for line in found["lines"] if line["asked"] == "success >= 90.00%")
    if not client_kept_up(found):
        assert (done.returncode, success["standing"]) == (3, "not decided")
        return
    assert done.returncode == 1
    assert (success["standing"], success["known"]) == ("fails", "measured here")
    assert success["share_high"] < 0.9
    assert ends(found)["small"] == "all has failed the contract"
    assert not (tmp_path / "started").exists()


def test_a_server_that_is_not_there_ends_it_at_once(tmp_path: Path) -> None:
    plan(tmp_path)
    short = {"name": "ready", "kind": "ready", "takes_s": 1}
    file = trials(tmp_path)
    content = json.loads(file.read_text())
    content["items"][0] = short
    file.write_text(json.dumps(content))
    done = carried(file, "http://127.0.0.1:9")
    found = answer(done)
    assert done.returncode == 3
    assert ends(found) == {"ready": 1, "all": "the server was not ready"}
    assert {line["known"] for line in found["lines"]} == {"carried over"}
    again = carried(file, "http://127.0.0.1:9")  # it is asked anew each time
    assert "ready: begun" in again.stderr
    assert (again.returncode, ends(answer(again))) == (3, ends(found))
    assert (tmp_path / "trials-run" / "01-ready-2" / "run.json").is_file()


def test_an_item_that_might_not_end_in_time_does_not_begin(
    tmp_path: Path, server: Rehearsed
) -> None:
    """400 s are too many for a tenth of an hour; a shorter one behind it still runs."""
    plan(tmp_path)
    short = {
        "name": "short",
        "kind": "cold",
        "scenario": "all",
        "send_s": 2,
        "drain_s": 9,
        "takes_s": 20,
    }
    file = trials(tmp_path, short, hours=0.1)
    done = carried(file, server.address)
    found = answer(done)
    reasons = ends(found)
    assert reasons["ready"] == 0
    assert reasons["all"].startswith("it might not end by ")
    assert reasons["short"] in (0, 3)  # 3 where the client was the bottleneck
    assert done.returncode == 3


def test_a_changed_setting_needs_a_restart(tmp_path: Path, server: Rehearsed) -> None:
    """Without a command it is left to a person; with one the same words run it, with the settings in the environment."""
    plan(tmp_path)
    file = trials(tmp_path, SMALL)
    first = carried(file, server.address)
    assert ends(answer(first))["small"] == (
        "it needs you: a server started anew with --max-num-seqs 8, or --restart-command"
    )
    refused = carried(file, server.address, "--restart-command", "echo no room; exit 3")
    assert ends(answer(refused))["small"] == (
        "the restart command ended with exit code 3; restarts.log has what it said"
    )
    assert (tmp_path / "trials-run" / "restarts.log").read_text() == "no room\n"
    done = carried(file, server.address, "--restart-command", 'echo "$VRAM_SETTINGS" > started')
    assert ends(answer(done))["small"] in (0, 3)  # 3 where the client was the bottleneck
    assert (tmp_path / "started").read_text() == "--max-num-seqs 8\n"


def test_a_home_that_takes_nothing_stops_no_trial(tmp_path: Path, server: Rehearsed) -> None:
    plan(tmp_path)
    (tmp_path / "taken").write_text("a file, and no folder")
    done = carried(trials(tmp_path), server.address, "--home", str(tmp_path / "taken"))
    found = answer(done)
    assert (found["standing"] == "holds") is client_kept_up(found)
    assert set(found["not_home"]) == set(files(tmp_path / "trials-run"))
    assert found["not_home_reason"].endswith("cannot be written: Not a directory")
    assert "Not copied home, and tried again: " in done.stderr
    assert done.stderr.count("Not copied home") <= 2  # told, not repeated


def begun(file: Path, url: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*VRAM, *carry_words(file, url)],
        cwd=file.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def entries(folder: Path) -> list[dict[str, Any]]:
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
    return [json.loads(line) for line in lines]


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def under_way(folder: Path) -> int:
    """Wait until the run sends its load; the number of its process."""
    run = folder / "02-all"
    until(lambda: any(each.get("name") == "measured" for each in entries(run)))
    pids = [each["pid"] for each in entries(folder) if each["event"] == "started"]
    return int(pids[-1])


def test_a_carrier_that_is_killed_leaves_the_trial_going(tmp_path: Path, server: Rehearsed) -> None:
    """Its successor waits for that trial and takes its result: one run, every request once."""
    plan(tmp_path)
    file = trials(tmp_path)
    with begun(file, server.address) as process:
        under_way(tmp_path / "trials-run")
        process.kill()
        process.wait()
    done = carried(file, server.address)
    assert done.returncode in (0, 3), done.stderr
    assert "ready: done before.\n" in done.stderr
    run = read_run(tmp_path / "trials-run" / "02-all")
    assert run.description.ended is Ended.CUT
    rows = run.requests.numbers("row")["row"]
    assert sorted(rows[rows >= 0]) == list(range(40))


def test_when_both_are_killed_the_trial_is_resumed(tmp_path: Path, server: Rehearsed) -> None:
    plan(tmp_path)
    file = trials(tmp_path)
    with begun(file, server.address) as process:
        pid = under_way(tmp_path / "trials-run")
        process.kill()
        os.kill(pid, signal.SIGKILL)
        process.wait()
    _closes_at_home(tmp_path / "trials-run", tmp_path / "home")
    done = carried(file, server.address)
    assert "all: going on where it was cut off.\n" in done.stderr
    found = answer(done)
    assert found["items"][1]["exit_code"] is not None
    assert read_description(tmp_path / "trials-run" / "02-all").ended is Ended.CUT
    assert any(each["event"] == "resumed" for each in entries(tmp_path / "trials-run" / "02-all"))


def _closes_at_home(folder: Path, home: Path) -> None:
    """What has come home of the run under way is a run that was cut off, and closes as one."""
    courier = Courier(folder, Directory(home), lambda _: None)
    assert courier.missing() == ()
    done = vram(["trial", "resume", str(home / "02-all"), "--close"], home)
    assert done.returncode == 3, done.stderr
    run = read_run(home / "02-all")
    assert run.description.ended is Ended.KILLED
    check_sound(run)


def test_without_time_a_trial_that_was_cut_off_is_closed(tmp_path: Path, server: Rehearsed) -> None:
    plan(tmp_path)
    file = trials(tmp_path, until="2026-01-01T00:00:00+00:00")
    late = carried(file, server.address)
    assert all(str(why).startswith("it might not end by ") for why in ends(answer(late)).values())
    other = tmp_path / "other"
    with begun_in(file, server.address, other) as process:
        pid = under_way(other)
        process.kill()
        os.kill(pid, signal.SIGKILL)
        process.wait()
    late = carried(file, server.address, "-o", str(other))
    assert "all: closed as it was cut off, for time.\n" in late.stderr
    assert read_description(other / "02-all").ended is Ended.KILLED
    assert answer(late)["standing"] == "not decided"


def _soon(seconds: float) -> str:
    from datetime import datetime, timedelta

    return (datetime.now().astimezone() + timedelta(seconds=seconds)).isoformat(timespec="seconds")


def begun_in(file: Path, url: str, folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*VRAM, *carry_words(file, url), "-o", str(folder), "--until", _soon(3600)],
        cwd=file.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_closes_the_trial_under_way(tmp_path: Path, server: Rehearsed) -> None:
    plan(tmp_path)
    file = trials(tmp_path)
    with begun(file, server.address) as process:
        under_way(tmp_path / "trials-run")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, err
    assert json.loads(out)["interrupted"] is True
    assert read_description(tmp_path / "trials-run" / "02-all").ended is Ended.INTERRUPTED
    page = (tmp_path / "trials-run" / "page.md").read_text()
    assert page.startswith(f"# {SIMULATED}INTERRUPTED, so far ")


def test_another_file_does_not_go_on_in_its_folder(tmp_path: Path) -> None:
    plan(tmp_path)
    file = trials(tmp_path, hours=0.001)
    assert carried(file, "http://127.0.0.1:9").returncode == 3
    file.write_text(file.read_text() + "\n")
    done = carried(file, "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"vram: {tmp_path}/trials-run is of another state of {file}; put the file back as it was, or begin in another folder "
        "with -o.\n"
    )


def test_a_refused_item_is_tried_again(tmp_path: Path, server: Rehearsed) -> None:
    """A key that is not there refuses its run; once it is, the same words run it."""
    plan(tmp_path)
    listed = trials(tmp_path)
    content = json.loads(listed.read_text())
    content["items"] = content["items"][1:]  # readiness would be asked with the key first
    listed.write_text(json.dumps(content))
    words = (server.address, "--key-file", str(tmp_path / "key"))
    done = carried(listed, *words)
    assert ends(answer(done))["all"] == "it was refused; its log in answers/ says why"
    assert "key" in (tmp_path / "trials-run" / "answers" / "01-all.log").read_text()
    (tmp_path / "key").write_text("sk-any")
    again = carried(listed, *words)
    assert ends(answer(again))["all"] in (0, 3)


TWICE = {
    "name": "twice",
    "kind": "repeat",
    "scenario": "all",
    "send_s": 1,
    "drain_s": 30,
    "takes_s": 120,
    "times": 2,
}


def test_repetitions_and_a_comparison_of_answers_are_carried_out(
    tmp_path: Path, quick: Rehearsed
) -> None:
    """Against a recording made before; carried out again, nothing is sent anew."""
    recording = tmp_path / "a.answers"
    made = vram(["trial", "shadow", "--a", quick.address, "--record", str(recording)], tmp_path)
    assert made.returncode == 0, made.stderr
    plan(tmp_path)
    shadow = {"name": "shadow", "kind": "shadow", "takes_s": 300, "against": "a.answers"}
    file = trials(tmp_path, TWICE, shadow)
    content = json.loads(file.read_text())
    content["items"] = content["items"][2:]
    file.write_text(json.dumps(content))
    done = carried(file, quick.address)
    found = answer(done)
    assert ends(found)["twice"] in (0, 3), done.stderr  # 3 where the client was the bottleneck
    assert ends(found)["shadow"] == 0
    folder = tmp_path / "trials-run"
    kept = json.loads((folder / "02-shadow" / "shadow.json").read_text())
    assert (kept["verdict"], kept["basis"]) == ("PASS", "rehearsed")
    says = next(each["says"] for each in found["items"] if each["name"] == "shadow")
    assert says == kept["reason"]
    series = json.loads((folder / "01-twice" / "repeat.json").read_text())
    assert (series["runs_asked"], series["runs_done"]) == (2, 2)
    assert (
        found["standing"] == "not decided"
    )  # neither is the run that the contract is held against
    before = files(folder / "01-twice")
    again = carried(file, quick.address)
    assert "shadow: done before.\n" in again.stderr
    assert files(folder / "01-twice") == before


def test_a_comparison_that_was_cut_off_is_made_again(tmp_path: Path, quick: Rehearsed) -> None:
    """Its folder says that it was begun, and nothing of it can go on."""
    plan(tmp_path)
    shadow = {"name": "shadow", "kind": "shadow", "takes_s": 300, "against": quick.address}
    file = trials(tmp_path, shadow)
    content = json.loads(file.read_text())
    content["items"] = content["items"][2:]
    file.write_text(json.dumps(content))
    (tmp_path / "trials-run" / "01-shadow").mkdir(parents=True)
    done = carried(file, quick.address)
    assert "shadow: made again from its beginning.\n" in done.stderr
    assert (tmp_path / "trials-run" / "01-shadow" / "shadow.json").is_file()
    assert ends(answer(done))["shadow"] == 0


def test_what_takes_longer_than_stated_is_asked_to_end(tmp_path: Path) -> None:
    """A process that heeds Ctrl-C, and is given a moment only."""
    ended = run_child(
        [sys.executable, "-c", "import time; time.sleep(600)"],
        tmp_path / "answer",
        tmp_path / "said",
        lambda _pid: None,
        0.5,
    )
    assert ended.overran
    assert ended.code != 0


def test_a_workload_that_is_gone_is_refused_before_the_server_is_asked(tmp_path: Path) -> None:
    plan(tmp_path)
    file = trials(tmp_path, workload="gone.parquet")
    done = carried(file, "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (2, "")
    sentence = f"vram: {tmp_path}/gone.parquet cannot be read: No such file or directory; check its path.\n"  # fmt: skip
    assert done.stderr == sentence
    assert not (tmp_path / "trials-run").exists()


def test_a_scenario_that_the_plan_lacks_is_refused_before_the_server_is_asked(
    tmp_path: Path,
) -> None:
    plan(tmp_path)
    file = trials(tmp_path, SMALL | {"scenario": "al"})
    done = carried(file, "http://127.0.0.1:9")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"vram: Unknown scenario 'al' in {tmp_path}/plan.yaml; the nearest known one is all.\n"  # fmt: skip
    assert not (tmp_path / "trials-run").exists()
