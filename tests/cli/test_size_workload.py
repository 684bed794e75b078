"""``vram size`` with recorded requests: what decides, growth, the limits, and the base installation."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recorded_workloads import CHAT, LONG, profile_of, slice_of, written
from vramledger.cli.main import run
from vramledger.units import round_up

MODEL = "meta-llama/Meta-Llama-3.1-8B"
HEAVY = ("duckdb", "ibis", "numba", "numpy", "plotly", "pyarrow", "scipy")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    slices = [slice_of("daily", CHAT, 3.0), slice_of("long-burst", [*CHAT[:40], *LONG], 2.5)]
    return written(profile_of([*CHAT, *LONG], 2.0, slices), tmp_path / "w.json")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    run(["size", *arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_the_stricter_of_daily_and_long_burst_decides_and_is_named(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["size", MODEL, "--workload", str(profile), "--gpu", "L40S"]) == 0
    out = capsys.readouterr().out
    assert f"daily: 3 requests/s (arrivals of {profile}, measured) of " in out
    assert f"long-burst: 2.5 requests/s (arrivals of {profile}, measured) of " in out
    (decided,) = [line for line in out.splitlines() if line.startswith("  decided by")]
    assert decided.startswith("  decided by long-burst, which needs 2 replicas, ")
    assert "; daily needs 1 replica, " in decided
    assert "add up" not in out


def test_json_says_which_scenario_decided(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, MODEL, "--workload", str(profile), "--gpu", "L40S")
    best = found["candidates"][0]
    assert best["decided_by"] == "long-burst"
    shares = {each["scenario"]: each["load_share"] for each in best["holdings"]}
    assert set(shares) == {"daily", "long-burst"}
    assert shares["long-burst"] > shares["daily"]


def test_profile_may_name_the_file_too(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [MODEL, "--gpu", "L40S"]
    first = answer(capsys, *arguments, "--workload", str(profile))
    assert answer(capsys, *arguments, "--profile", str(profile)) == first


def test_growth_takes_more(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [MODEL, "--workload", str(profile), "--gpu", "L4"]
    once = answer(capsys, *arguments)["candidates"][0]["gpus"]
    assert answer(capsys, *arguments, "--rate-scale", "10")["candidates"][0]["gpus"] > once


def test_a_stated_load_wins_over_the_recorded_one(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, MODEL, "--workload", str(profile), "--concurrent", "5", "--gpu", "L40S")
    assert any(
        note.startswith("daily: 5 requests in flight at the peak;") for note in found["notes"]
    )


def test_a_workload_without_slices_is_taken_whole_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(profile_of(CHAT, 2.0), tmp_path / "short.json")
    found = answer(capsys, MODEL, "--workload", str(path), "--gpu", "L40S")
    assert found["notes"][:2] == [
        f"daily: {path} has no such slice, so all of it is taken.",
        f"long-burst: {path} has no such slice, so all of it is taken.",
    ]
    assert [each["scenario"] for each in found["candidates"][0]["holdings"]] == ["whole"]


def test_the_longest_request_of_the_log_is_served_though_no_scenario_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slices = [slice_of("daily", CHAT, 3.0), slice_of("long-burst", CHAT, 3.0)]
    path = written(profile_of([*CHAT, (20000, 500)], 2.0, slices), tmp_path / "w.json")
    asked = ["--workload", str(path), "--gpu", "L40S"]
    found = answer(capsys, MODEL, *asked)
    assert found["max_model_len_tokens"] == 21504
    assert found["unmet"] == []
    short = answer(capsys, "google/gemma-2-9b-it", *asked)
    assert short["unmet"] == [
        (
            f"{path}: 0.3% of the requests are longer than the 8,192 tokens google/gemma-2-9b-it can "
            "be served with and would be refused, and none may be; choose a model of longer context, or "
            "state which share served is enough (--success 0.99, or a plan's contract)."
        )
    ]


def test_a_limit_is_proposed_with_whom_it_turns_away(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["size", MODEL, "--workload", str(profile), "--gpu", "L40S"])
    out = capsys.readouterr().out.splitlines()
    longest = max(map(sum, LONG))
    launched = round_up(longest, 1024)
    assert (
        f"Context limit: --max-model-len {launched}, as in the launch above, turns nobody away "
        f"(the longest request has {longest:,} tokens)."
    ) in out
    assert out[0].startswith(f"L40S holds {MODEL} with requests of up to {launched:,} tokens.")
    assert any(f"--max-model-len {launched}" in line for line in out if "launch:" in line)
    assert "Add --limits for the table of limits." in out
    run(["size", MODEL, "--workload", str(profile), "--gpu", "L40S", "--limits"])
    table = capsys.readouterr().out.splitlines()
    (row,) = [line.split() for line in table if line.startswith("  8,192")]
    assert row[1:4] == ["6.25%", "0.00%", "not"]


def test_a_contract_lowers_the_proposed_limit_of_a_plan(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = profile.with_name("plan.yaml")
    plan.write_text(
        f"name: x\nmodel: {MODEL}\nworkload: w.json\ngpus: [L40S]\n"
        "scenarios: {daily: {kind: latency, contract: {success: 0.93}}}\n"
    )
    limits = answer(capsys, str(plan))["context_limits"]
    assert limits["allowed_share"] == 0.07
    assert limits["proposed_tokens"] == 4096
    assert limits["turned_away_share"] == 0.0625
    run(["size", str(plan)])
    assert (
        "turns away 6.25% of the requests, those of 4,097 to 9,808 tokens of input and output; it is "
        "the smallest of the table that does not turn away more than may be (up to 7.00% may be); the "
        "launch above was sized with 10240."
    ) in capsys.readouterr().out


def test_success_says_without_a_plan_which_share_must_be_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slices = [slice_of("daily", CHAT, 3.0), slice_of("long-burst", CHAT, 3.0)]
    path = written(profile_of([*CHAT, (20000, 500)], 2.0, slices), tmp_path / "w.json")
    asked = ["size", "google/gemma-2-9b-it", "--workload", str(path), "--gpu", "L40S"]
    assert run(asked) == 1
    out = capsys.readouterr().out
    assert (
        "No context limit is proposed: every one that the engine holds turns somebody away, and none "
        "may be (the longest request has 20,500 tokens)."
    ) in out
    assert run([*asked, "--success", "0.99"]) == 0
    out = capsys.readouterr().out
    assert "DOES NOT HOLD" not in out
    assert "0.3% of the requests are longer than the 8,192 tokens" in out
    assert "--max-model-len 4096, as in the launch above, turns away " in out
    assert "does not turn away more than may be (up to 1.00% may be)." in out
    assert run([*asked, "--success", "99"]) == 2
    assert capsys.readouterr().err == (
        "vram: --success is 99; it is a share, above 0 and at most 1.\n"
    )


def test_a_check_counts_the_requests_of_the_slice(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = profile.with_name("plan.yaml")
    plan.write_text(
        f"name: x\nmodel: {MODEL}\nworkload: w.json\ngpus: [L40S]\n"
        "scenarios: {long-burst: {kind: latency, contract: {ttft_s: {p95: 9}}}}\n"
    )
    assert run(["plan", "check", str(plan)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert "long-burst: latency, 2.5 requests_per_s, headroom auto" in out
    assert out[-1] == (
        "Not decided: long-burst: ttft_s p95 rests on 60 requests in one period and needs 200 for 10 "
        "beyond it; a longer trial or a lower percentile decides."
    )


def test_stated_lengths_have_the_table_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = [MODEL, "--concurrent", "8", "--profile", "chat", "--gpu", "L40S"]
    assert answer(capsys, *asked)["context_limits"] is None
    limits = answer(capsys, *asked, "--limits")["context_limits"]
    assert limits["counted"] is False
    assert limits["limits"][0]["limit_tokens"] == 2048


def test_a_model_that_thinks_beside_outputs_of_chat_is_a_warning(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["size", "Qwen/QwQ-32B", "--workload", str(profile), "--gpu", "H100-80GB-SXM"])
    (warning,) = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith("WARNING")
    ]
    assert warning == (
        "WARNING: Qwen/QwQ-32B thinks before it answers (QwQ), but the median output (209 tokens in "
        "daily, 89 tokens in long-burst) is below 500 and shows no thinking tokens; thinking is "
        "output and holds KV cache, so take lengths of a model that thinks (--profile reasoning, your "
        "own logs)."
    )
    assert answer(capsys, MODEL, "--workload", str(profile), "--gpu", "L40S")["warnings"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            "--workload w.json --profile chat",
            "--workload and --profile both give lengths; leave one of them out.",
        ),
        (
            "--rate 3 --rate-scale 2",
            (
                "--rate-scale multiplies the arrivals of a recorded workload; give it with --workload "
                "and without --users, --concurrent or --rate."
            ),
        ),
        (
            "--workload w.json --rate-scale 0",
            "--rate-scale is 0; it must be above 0 and at most 1e9.",
        ),
        (
            "--workload absent.parquet",
            "absent.parquet cannot be read: No such file or directory; name another file.",
        ),
        (
            "--workload access.log.gz",
            (
                "access.log.gz is a log; read it first with vram workload import access.log.gz -o "
                "workload.parquet."
            ),
        ),
    ],
)
def test_bad_workloads_are_one_sentence(
    options: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["size", MODEL, *options.split()]) == 2
    assert capsys.readouterr().err == f"vram: {said}\n"


def test_a_profile_needs_no_library_of_the_full_installation(profile: Path) -> None:
    done = without_heavy("size", MODEL, "--workload", str(profile), "--gpu", "L40S", "--limits")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  decided by long-burst" in done.stdout


def test_a_stored_workload_says_what_to_install(profile: Path) -> None:
    stored = profile.with_suffix(".parquet")
    stored.write_bytes(b"PAR1")
    done = without_heavy("size", MODEL, "--workload", str(stored), "--gpu", "L40S")
    assert done.returncode == 2
    assert done.stderr == (
        f"vram: {stored} is a stored workload, and profiling it needs duckdb, ibis, numpy, pyarrow, "
        "which the base installation leaves out; run pip install 'vramledger[full]', or give its "
        "profile (vram workload profile --json), which needs none of them.\n"
    )


def without_heavy(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command where the libraries of the full installation cannot be found."""
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] in {HEAVY!r}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        f"util.find_spec = lambda name, *rest: None if name in {HEAVY!r} else found(name, *rest)\n"
        "from vramledger.cli.main import main\n"
        "main()\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
