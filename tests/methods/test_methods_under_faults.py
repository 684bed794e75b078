"""Every method against a rehearsal server with faults: each ends with a record that is sound and tells what befell it.

A few pairs of a method and a fault stand in the suite; `make fuzz` takes all of them.
"""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from commands import vram_here
from planned_trials import plan, trials
from rehearse_server import rehearsal
from stored_workloads import request, stored
from vramledger.record.run import Run, read_run
from vramledger.record.soundness import check_sound

COUNT = 20
FAULTS = {
    "stall": "stall:0.3:1s",
    "reset": "reset:0.3",
    "error": "error:0.3",
    "reject": "reject:0.3",
    "slow": "slow-drip:0.3",
    "restart": "restart@2500ms:1s",
    "metrics": "no-metrics@2500ms",
}
GONE = frozenset({"connect_refused", "connect_reset", "reset_before_headers", "reset_mid_stream", "closed_before_headers", "incomplete_stream"})  # fmt: skip
CLASSES: dict[str, frozenset[str]] = {  # with which requests may fail; of all others, with none
    "reset": frozenset({"reset_mid_stream", "reset_before_headers"}),
    "error": frozenset({"http_500"}),
    "reject": frozenset({"http_429"}),
    "restart": GONE,
}
FOREIGN = frozenset({"foreign"})  # an imported file's own words
SURE = ("reset", "error", "reject")  # that befall some of twenty requests whenever they come
SPEED = ("--speed", "5")
Made = CompletedProcess[str]


def load(folder: Path) -> list[str]:
    """Options: twenty requests in one second, sent without a warm-up."""
    rows = (
        request(row, arrival_s=row * 0.05, input_tokens=30, output_tokens=8) for row in range(COUNT)
    )
    file = stored(folder / "w.parquet", rows)
    return ["--workload", str(file), "--cold", "--drain", "20s"]


def ramp(folder: Path, url: str, _healthy: str) -> Made:
    levels = ["--closed", "--start", "2", "--most", "4", "--step-for", "1s", "--steps", "3"]
    return vram_here(
        ["trial", "ramp", "--url", url, *load(folder), *levels, "-o", "r", "--json"], folder
    )


def ramp_at_a_rate(folder: Path, url: str, _healthy: str) -> Made:
    levels = ["--start", "1", "--most", "2", "--step-for", "1s", "--steps", "2"]
    return vram_here(
        ["trial", "ramp", "--url", url, *load(folder), *levels, "-o", "r", "--json"], folder
    )


def soak(folder: Path, url: str, _healthy: str) -> Made:
    parts = ["--for", "4s", "--segments", "4", "--no-ramps"]
    return vram_here(
        ["trial", "soak", "--url", url, *load(folder), *parts, "-o", "r", "--json"], folder
    )


def repeat(folder: Path, url: str, _healthy: str) -> Made:
    return vram_here(
        ["trial", "repeat", "2", "--url", url, *load(folder), "-o", "r", "--json"], folder
    )


def two_servers(folder: Path, url: str, healthy: str) -> Made:
    sides = ["--a", url, "--b", healthy]
    return vram_here(["trial", "repeat", "2", *sides, *load(folder), "-o", "r", "--json"], folder)


def shadow(folder: Path, url: str, healthy: str) -> Made:
    asked = ["--requests", "40", "--max-tokens", "40", "-o", "r/shadow.json", "--json"]
    return vram_here(["trial", "shadow", "--a", healthy, "--b", url, *asked], folder)


def planned(folder: Path, url: str, _healthy: str) -> Made:
    plan(folder, success=0.99, count=COUNT)
    file = trials(folder)
    content = json.loads(file.read_text())
    content["items"] = [{**content["items"][1], "send_s": 1}]
    file.write_text(json.dumps(content))
    return vram_here(["trial", "plan", "--run", str(file), "--url", url, "-o", "r", "--json"], folder)  # fmt: skip


def imported(folder: Path, url: str, _healthy: str) -> Made:
    """A trial, exported as another tool writes it, and made a run again."""
    made = vram_here(["trial", "run", "--url", url, *load(folder), "-o", "own", "--json"], folder)
    if made.returncode == 2 or not made.stdout:
        return made
    out = vram_here(["trial", "export", "own", "--format", "aiperf", "-o", "x"], folder)
    assert out.returncode == 0, out.stderr
    return vram_here(["trial", "import", "x", "-o", "r", "--json"], folder)


METHODS: dict[str, Callable[[Path, str, str], Made]] = {
    "ramp": ramp,
    "ramp at a rate": ramp_at_a_rate,
    "soak": soak,
    "repeat": repeat,
    "two servers": two_servers,
    "shadow": shadow,
    "plan": planned,
    "import": imported,
}
FEW = {  # each method and each fault once at least
    ("ramp", "restart"),
    ("ramp", "metrics"),
    ("ramp at a rate", "stall"),
    ("soak", "restart"),
    ("repeat", "reject"),
    ("two servers", "slow"),
    ("shadow", "error"),
    ("plan", "reset"),
    ("import", "error"),
}


def test_the_few_have_every_method_and_every_fault() -> None:
    methods, faults = ({pair[place] for pair in FEW} for place in (0, 1))
    assert (methods, faults) == (set(METHODS), set(FAULTS))


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        pytest.param(*pair, marks=() if pair in FEW else pytest.mark.fuzz)
        for pair in product(METHODS, FAULTS)
    ],
)
def test_a_method_ends_with_a_record_that_tells(method: str, fault: str, tmp_path: Path) -> None:
    with rehearsal(*SPEED, "--fault", FAULTS[fault]) as server, rehearsal(*SPEED) as healthy:
        done = METHODS[method](tmp_path, server.address, healthy.address)
    assert "Traceback" not in done.stderr
    runs = _runs(tmp_path)
    found = json.loads(done.stdout) if done.stdout else None
    if found is None:  # refused or unable in a sentence, with what was made before it kept
        assert done.returncode in (2, 3), done.stderr
        assert done.stderr.splitlines()[-1].startswith("vram: ")
        assert fault in (*SURE, "restart")
        return
    assert done.returncode in (0, 1, 3)
    if method != "shadow":
        assert runs
        _classes(runs, fault, of_each=method in ("repeat", "plan"))
    CHECKS[method](found, fault, done.returncode, runs)


def _runs(folder: Path) -> list[Run]:
    """Every run below, closed and sound, none of its requests twice and no row left out."""
    found = []
    for file in sorted(folder.rglob("run.json")):
        run = read_run(file.parent)
        assert run.description.ended is not None, file
        check_sound(run)
        rows = run.requests.numbers("row")["row"]
        ids = run.requests.numbers("request_id")["request_id"]
        assert len(set(ids)) == len(ids)
        told = set(rows[rows >= 0])  # a closed loop sends them again and again
        assert told == set(range(len(told)))
        found.append(run)
    return found


def _classes(runs: list[Run], fault: str, *, of_each: bool) -> None:
    """Requests fail as the fault has them fail, and as nothing else."""
    seen = [set(run.requests.read(("error_class",))["error_class"].to_pylist()) - {None} for run in runs]  # fmt: skip
    told = CLASSES.get(fault, frozenset())
    assert set().union(*seen) <= (told | FOREIGN if told else told)
    if fault in SURE and of_each:
        assert all(seen)


def _ramp(found: dict[str, Any], fault: str, code: int, runs: list[Run]) -> None:
    kept = json.loads((runs[0].path.parent / "ramp.json").read_text())
    assert kept["result"] == found
    assert len(found["steps"]) == len(runs)
    says = found["says"]
    if found["stopped_by"] == "client":
        assert (code, found["verdict"]) == (3, "INCONCLUSIVE")
    elif fault == "metrics" and found["stopped_by"] == "most":
        assert (code, found["verdict"]) == (3, "INCONCLUSIVE")
        assert "The server does not count preemptions, so that none can be ruled out" in says
    elif fault in SURE:
        assert found["stopped_by"] in ("failures", "server", "steps")
        assert found["verdict"] != "HOLDS" or found["safe_load"]["held"] is not None
    elif fault == "restart" and found["stopped_by"] == "restart":
        assert "the server restarted or went away" in says


def _soak(found: dict[str, Any], fault: str, code: int, runs: list[Run]) -> None:
    assert len(found["segments"]) == len(runs)
    if fault == "restart" and found["restarts"]:
        assert (code, found["verdict"]) == (1, "GROWS")
        assert f"The server restarted or was away in {found['restarts']} of " in found["says"]
    elif fault != "restart":
        assert (code, found["verdict"], found["ended_early"]) == (3, "INCONCLUSIVE", None)
        assert found["restarts"] == 0
    if fault == "metrics":
        assert found["segments"][-1]["idle_kv_usage"] is None
    assert [each["requests"] for each in found["segments"]] == [_offered(run) for run in runs]
    assert [each["ok"] for each in found["segments"]] == [_ok(run) for run in runs]


def _offered(run: Run) -> int:
    rows = run.requests.numbers("row")["row"]
    return int((rows >= 0).sum())


def _ok(run: Run) -> int:
    """Of the measured requests."""
    rows, outcomes = run.requests.numbers("row")["row"], run.requests.read(("outcome",))["outcome"]
    return sum(row >= 0 and each == "ok" for row, each in zip(rows, outcomes.to_pylist(), strict=True))  # fmt: skip


def _repeated(found: dict[str, Any], fault: str, code: int, runs: list[Run]) -> None:
    del code
    for side in found["sides"]:
        share = next(each for each in side["figures"] if each["name"] == "ok_share")
        mine = [run for run in runs if run.path.name in {each["run"] for each in side["runs"]}]
        assert share["pooled"] == pytest.approx(
            sum(map(_ok, mine)) / sum(map(_offered, mine)), abs=1e-6
        )
        befallen = fault in SURE and side["side"] in (None, "a")
        assert (share["pooled"] < 1) is befallen or fault == "restart"


def _shadow(found: dict[str, Any], fault: str, code: int, runs: list[Run]) -> None:
    """Whoever fails is counted, and takes no part in what is compared."""
    del code, runs
    failed = found["errors"]["b"]
    assert set(failed) <= CLASSES.get(fault, frozenset())
    assert found["errors"]["a"] == {}
    assert found["requests"]["answered"] == found["requests"]["asked"] - sum(failed.values())
    assert (sum(failed.values()) > 0) or fault not in ("error", "reject")
    with_failures = found["token_agreement_with_failures"]
    assert with_failures is None or (with_failures < 1) is bool(failed)


def _planned(found: dict[str, Any], fault: str, code: int, runs: list[Run]) -> None:
    del runs
    success = next(line for line in found["lines"] if line["asked"] == "success >= 99.00%")
    assert success["standing"] != "holds"  # twenty requests prove no 99 of 100
    assert found["rehearsed"] is True
    if fault in SURE and success["standing"] != "not decided":
        assert (code, success["standing"]) == (1, "fails")
    if fault not in (*SURE, "restart"):
        assert (code, success["standing"]) == (3, "not decided")


def _imported(found: dict[str, Any], fault: str, code: int, runs: list[Run]) -> None:
    """What came back has the requests that were sent, and as many that ended well."""
    del found, fault
    assert code in (0, 3)
    own, back = (next(run for run in runs if run.path.name == name) for name in ("own", "r"))
    assert _ok(back) == _ok(own)


CHECKS: dict[str, Callable[[dict[str, Any], str, int, list[Run]], None]] = {
    "ramp": _ramp,
    "ramp at a rate": _ramp,
    "soak": _soak,
    "repeat": _repeated,
    "two servers": _repeated,
    "shadow": _shadow,
    "plan": _planned,
    "import": _imported,
}
