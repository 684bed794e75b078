"""``vram simulate``: what it prints, what it writes, what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from stored_workloads import chats, request, stored
from vramledger.cli.main import run
from vramledger.errors import ExitCode
from vramledger.record.run import read_run
from vramledger.record.samples import STEPS
from vramledger.record.soundness import check_sound

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
CARD = ("--gpu", "H100-80GB-SXM", "--engine-version", "0.32.0")
KEYS = {
    "schema", "run", "requests", "steps", "preemptions", "recomputed_tokens", "kv_usage", "ttft_s",
    "itl_s", "tpot_s", "queue_s", "e2e_s", "goodput_per_hour", "queue_drains",
    "simulated_requests_per_wall_s",
}  # fmt: skip
PLAN = """\
name: chat
model: meta-llama/Llama-3.1-8B
engine: {name: vllm, version: "0.32", args: {max-model-len: 8192}}
workload: w.parquet
scenarios:
  daily: {kind: latency, contract: {ttft_s: {p95: LIMIT}, success: 0.99, queue_must_drain: true}}
gpus: [H100-80GB-SXM]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stored(tmp_path / "w.parquet", chats(20, span_s=60))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def simulated(*arguments: str, launch: str = LAUNCH, code: ExitCode = ExitCode.HOLDS) -> None:
    assert run(["simulate", launch, *CARD, *arguments]) == code


def answered(capsys: pytest.CaptureFixture[str], *arguments: str, **asked: Any) -> Any:
    simulated(*arguments, "--json", **asked)
    return json.loads(capsys.readouterr().out)


def refused(
    capsys: pytest.CaptureFixture[str], *arguments: str, code: ExitCode = ExitCode.BAD_INPUT
) -> str:
    assert run(["simulate", *arguments]) == code
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.removeprefix("vram: ").strip()


def test_every_block_of_the_answer_says_that_it_is_simulated(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulated("--workload", "w.parquet", "-o", "r")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "SIMULATED, not measured: w.parquet"
    assert lines[1] == "meta-llama/Llama-3.1-8B on 1 x H100-80GB-SXM, vLLM 0.32.0"
    assert lines[2].endswith(
        "KV blocks of 16 tokens (the pessimistic end of the ledger's band), seed 0"
    )
    titles = [line for line in lines if line.startswith("SIMULATED ")]
    assert titles == ["SIMULATED with the workload's prefix hits", "SIMULATED without prefix hits"]
    rows = [line.split("  ")[0] for line in lines]
    for name in ("KV use", "running", "waiting", "TTFT", "ITL", "TPOT", "queue", "E2E", "theory"):
        assert name in rows
    assert lines[-1] == "run         r"
    assert folder.joinpath("r", "run.json").is_file()


def test_the_json_has_the_promised_keys(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "--workload", "w.parquet", "-o", str(folder / "r"))
    assert found.keys() >= KEYS
    assert found["schema"] == "vramledger.simulation/1"
    assert found["run"] == str(folder / "r")
    assert found["basis"] in {"calibrated", "assumed"}
    assert found["notes"][0].startswith(
        f"Step times are {found['basis']}, from the shipped coefficients"
    )
    assert found["requests"] == {
        "offered": 80, "ok": 80, "failed": 0, "rejected": 0, "cancelled": 0, "timed_out": 0,
        "incomplete": 0,
    }  # fmt: skip
    for name in ("kv_usage", "ttft_s", "itl_s", "tpot_s", "queue_s", "e2e_s"):
        values = [found[name][each] for each in ("p50", "p95", "p99", "max")]
        assert values == sorted(values)
    assert found["goodput_per_hour"] is None
    assert (
        found["goodput_reason"]
        == "no contract was stated; give --limit, or simulate a plan's scenario"
    )
    assert sum(found["binding"].values()) == pytest.approx(1)
    assert abs(found["theory"]["little_residual"]) < 0.05


def test_prefix_hits_are_shown_beside_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answered(capsys, "--workload", "w.parquet", "-o", str(folder / "r"))
    assert found["prefix_hit_share"] > 0.4
    assert found["without_prefix_hits"]["prefix_hit_share"] == 0
    assert found["e2e_s"]["p50"] < found["without_prefix_hits"]["e2e_s"]["p50"]
    alone = answered(capsys, "--workload", "w.parquet", "-o", str(folder / "s"), "--no-prefix")
    assert alone["without_prefix_hits"] is None
    assert alone["e2e_s"] == found["without_prefix_hits"]["e2e_s"]
    assert alone["notes"][-1] == "Simulated without prefix hits only: --no-prefix was given."


@pytest.mark.usefixtures("folder")
def test_the_run_is_sound_and_the_same_in_every_byte() -> None:
    for out in ("a", "b"):
        simulated("--workload", "w.parquet", "-o", out, "--replicas", "2", "--rate-scale", "1.5")
    first, second = read_run(Path("a")), read_run(Path("b"))
    check_sound(first)
    first.check_unchanged()
    assert first.description == second.description
    assert first.description.origin == "simulated"
    assert first.requests.read(("engine",)).column("engine").unique().to_pylist() == [0, 1]
    assert first.table(STEPS).rows > 0
    for file in Path("a").iterdir():
        assert file.read_bytes() == Path("b", file.name).read_bytes()


@pytest.mark.usefixtures("folder")
def test_without_a_folder_the_run_gets_a_dated_one() -> None:
    simulated("--workload", "w.parquet")
    (found,) = Path("runs").iterdir()
    assert found.name.endswith("Z-meta-llama-llama-3-1-8b-w")


def test_a_page_that_cannot_be_written_leaves_the_run_and_says_where(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--workload", "w.parquet", "-o", "run", "--html", "run")
    assert refused(capsys, LAUNCH, *CARD, *asked) == (
        "run cannot be written: Is a directory; choose another --html. The run itself is complete, in run."
    )
    assert (folder / "run" / "requests.parquet").is_file()


@pytest.mark.parametrize(
    ("limit", "code"), [("5.0", ExitCode.HOLDS), ("0.001", ExitCode.DOES_NOT_HOLD)]
)
def test_a_plans_contract_decides(
    folder: Path, capsys: pytest.CaptureFixture[str], limit: str, code: ExitCode
) -> None:
    plan = folder / "plan.yaml"
    plan.write_text(PLAN.replace("LIMIT", limit))
    assert run(["simulate", str(plan), "-o", str(folder / "r"), "--json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert found["scenario"] == "daily"
    assert [line["holds"] for line in found["contract"]] == [code == ExitCode.HOLDS, True, True]
    assert (found["goodput_per_hour"] > 0) == (code == ExitCode.HOLDS)


@pytest.mark.usefixtures("folder")
def test_a_contract_that_turns_within_the_band_cannot_be_signed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answered(capsys, "--workload", "w.parquet", "-o", "r")
    here, slow = (end["tpot_s"]["p95"] for end in (found, found["slow_end"]))
    limit = f"tpot_s p95 <= {(here + slow) / 2:.6f}"
    asked = ("--workload", "w.parquet", "--limit", limit)
    turned = answered(capsys, *asked, "-o", "s", code=ExitCode.CANNOT_KNOW)
    (line,) = turned["contract"]
    assert (line["holds"], line["verdict"]) == (True, "holds, not at the slow end")
    assert float(line["slow_end"]) == pytest.approx(slow, rel=1e-3)
    assert (turned["verdict"], turned["fast_end"]) == (line["verdict"], None)
    simulated(*asked, "-o", "t", code=ExitCode.CANNOT_KNOW)
    said = capsys.readouterr().out.splitlines()
    texts = [one for one in said if one.startswith("INCONCLUSIVE tpot_s p95 <= ")]
    assert len(texts) == 2  # without prefix hits, and with the workload's own
    assert all(text.endswith(" s at the slow end, which fails") for text in texts)
    factor = turned["step_times"]["slow_factor"]
    assert (
        "verdict      INCONCLUSIVE: the contract holds as expected, not at the slow end of the step times "
        f"(x{factor:.2f})"
    ) in said
    assert next(one for one in said if "p50" in one).endswith("p95 slow end  p99 slow end")


def few_chats(folder: Path) -> tuple[str, ...]:
    stored(folder / "few.parquet", chats(2, span_s=60))
    return ("--workload", "few.parquet")


def test_a_percentile_of_too_few_requests_is_no_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (*few_chats(folder), "--limit", "ttft_s p95 <= 9")
    found = answered(capsys, *asked, "-o", "r", code=ExitCode.CANNOT_KNOW)
    (line,) = found["contract"]
    assert (line["holds"], line["requests_needed"]) == (None, 20)
    assert found["verdict"] == line["verdict"] == "too few requests"
    simulated(*asked, "-o", "s", code=ExitCode.CANNOT_KNOW)
    assert (
        "verdict      INCONCLUSIVE: too few requests for ttft_s p95 <= 9 s (it needs 20 or more, and 8 have such a "
        "figure)"
    ) in capsys.readouterr().out.splitlines()


def test_a_line_that_fails_decides_beside_one_of_too_few_requests(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = ("--limit", "ttft_s p95 <= 9", "--limit", "ttft_s p50 <= 0.000001")
    found = answered(capsys, *few_chats(folder), *limits, "-o", "r", code=ExitCode.DOES_NOT_HOLD)
    assert sorted(line["verdict"] for line in found["contract"]) == ["fails", "too few requests"]


def test_no_knee_is_told_of_too_few_requests(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (LAUNCH, *CARD, *few_chats(folder), "--limit", "ttft_s p99 <= 9", "--knee")
    assert refused(capsys, *asked, code=ExitCode.CANNOT_KNOW) == (
        "The workload has 8 requests, and the contract's percentiles need 100 or more (p95 needs 20, p99 100), so no "
        "knee can be told; give a workload with more requests."
    )


@pytest.mark.usefixtures("folder")
def test_many_rejected_requests_are_told_before_any_figure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        request(row, arrival_s=float(row), input_tokens=9000 if row else 90, output_tokens=5)
        for row in range(4)
    ]
    stored(Path("long.parquet"), rows)
    simulated("--workload", "long.parquet", "-o", "r")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "WARNING     75.0% of the requests are rejected, because their prompts leave no room below max_model_len "
        "(8,192 tokens): the load is that of the others, and inf stands where a percentile falls among requests that "
        "get no answer"
    )
    assert lines[1] == "SIMULATED, not measured: long.parquet"
    assert not any(line.startswith("safe load") for line in lines)
    assert any(line.startswith("theory      left out") for line in lines)


def test_a_plan_with_several_cards_names_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = folder / "plan.yaml"
    cards = "gpus: [H100-80GB-SXM, L40S]"
    plan.write_text(PLAN.replace("LIMIT", "5").replace("gpus: [H100-80GB-SXM]", cards))
    assert refused(capsys, str(plan)) == (
        "The plan has several accelerators (H100-80GB-SXM, L40S), and one is simulated at a time; name it with --gpu."
    )


def test_a_pool_given_by_hand_that_is_too_small_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = f"{LAUNCH} --num-gpu-blocks-override 1"
    workload = str(folder / "w.parquet")
    simulated("--workload", workload, launch=launch, code=ExitCode.DOES_NOT_HOLD)
    assert capsys.readouterr().out == (
        "DOES NOT START, so nothing was simulated: One request of max_model_len 8192 does not fit: it needs 1.00 GiB "
        "of KV cache, and --num-gpu-blocks-override 1 makes a pool of 1 block with 0.002 GiB; raise the override or "
        "leave it out.\n"
    )


@pytest.mark.usefixtures("folder")
def test_clients_with_a_limit_of_time_are_shown_and_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("--workload", "w.parquet", "--client-timeout")
    found = answered(
        capsys, *asked, "0.5", "-o", "r", "--limit", "success >= 99%", code=ExitCode(1)
    )
    assert (found["client_timeout_s"], found["verdict"]) == (0.5, "fails")
    assert 0 < found["requests"]["timed_out"] < 80
    assert found["requests"]["ok"] == 80 - found["requests"]["timed_out"]
    assert json.loads(Path("r", "run.json").read_text())["client_timeout_s"] == 0.5
    said = "it is a number of seconds above 0, up to 1e+09."
    for given in ("0", "-1", "nan"):
        assert (
            refused(capsys, LAUNCH, *CARD, *asked, given) == f"--client-timeout is {given}; {said}"
        )


@pytest.mark.usefixtures("folder")
def test_a_closed_loop_has_no_safe_rate(capsys: pytest.CaptureFixture[str]) -> None:
    simulated("--workload", "w.parquet", "-o", "r", "--closed", "4")
    assert "safe load" not in capsys.readouterr().out
    found = answered(capsys, "--workload", "w.parquet", "-o", "s", "--closed", "4")
    assert found["theory"]["safe_requests_per_s"] is None


def test_a_request_that_the_engine_refuses_is_rejected_and_nothing_holds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(folder / "long.parquet", [request(0, arrival_s=0.0, input_tokens=9000, output_tokens=1)])
    out = str(folder / "r")
    found = answered(capsys, "--workload", "long.parquet", "-o", out, code=ExitCode.DOES_NOT_HOLD)
    assert found["requests"]["rejected"] == 1
    assert found["ttft_s"]["p50"] == "inf" or found["ttft_s"]["p50"] is None


def test_a_deployment_that_does_not_start_is_a_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = "vllm serve meta-llama/Llama-3.1-70B"
    simulated("--workload", "w.parquet", launch=launch, code=ExitCode.DOES_NOT_HOLD)
    said = capsys.readouterr().out
    assert said.startswith("DOES NOT START, so nothing was simulated: Loading the weights fails")
    found = answered(capsys, "--workload", "w.parquet", launch=launch, code=ExitCode.DOES_NOT_HOLD)
    assert (found["run"], found["schema"]) == (None, "vramledger.simulation/1")
    assert not (folder / "runs").exists()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--workload", "w.parquet", "--rate-scale", "1e9"],
            "--rate-scale is 1e+09; it is a factor on the arrivals above 0 and up to 1000.",
        ),
        (
            ["--workload", "w.parquet", "--rate-scale", "-1"],
            "--rate-scale is -1; it is a factor on the arrivals above 0 and up to 1000.",
        ),
        (
            ["--workload", "w.parquet", "--rate-scale", "1e-300"],
            "--rate-scale 1e-300 leaves none of 80 requests; take a larger one. Nothing was written.",
        ),
        (
            ["--workload", "w.parquet", "--replicas", "0"],
            "--replicas is 0; it must be a whole number from 1 to 1024.",
        ),
        (
            ["--workload", "no.parquet"],
            "no.parquet cannot be read: No such file or directory; check its path.",
        ),
        (
            ["--workload", "w.parquet", "-o", "w.parquet"],
            "w.parquet holds something already; name a folder that is not there yet.",
        ),
    ],
)
def test_nonsense_ends_in_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert refused(capsys, LAUNCH, *CARD, *arguments) == said


def test_requests_without_an_answer_or_a_prompt_are_told_with_their_share(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lengths = [(100, 20), (100, 0), (None, 20), (100, None), (100, 20)]
    rows = [
        request(row, arrival_s=float(row), input_tokens=given, output_tokens=made)
        for row, (given, made) in enumerate(lengths)
    ]
    stored(folder / "two.parquet", rows)
    stored(folder / "one.parquet", [rows[0], *(row | {"row": 1} for row in rows[1:2])])
    notes = answered(capsys, "--workload", "two.parquet")["notes"]
    assert (
        "2 requests of the workload have no answer (50.0% of all) and took that of another request with a prompt "
        "about as long, drawn by the seed (assumed): 50.0% of the tokens."
    ) in notes
    assert (
        "1 request of the workload has no known prompt and was left out: 20.0% of all, so the true load is larger."
    ) in notes
    found = answered(capsys, "--workload", "one.parquet")
    assert found["requests"]["ok"] == 2
    assert [
        note
        for note in found["notes"]
        if note.startswith("1 request of the workload has no answer")
    ]


def test_a_workload_without_requests_or_times_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(folder / "none.parquet", [])
    stored(folder / "timeless.parquet", [request(0, input_tokens=5, output_tokens=5)])
    asked = (LAUNCH, *CARD, "--workload")
    assert refused(capsys, *asked, "none.parquet") == (
        "none.parquet holds no request; import logs that do, or choose another slice."
    )
    assert refused(capsys, *asked, "timeless.parquet", code=ExitCode.CANNOT_KNOW) == (
        "timeless.parquet has requests without times, so there is no order to simulate; vram workload "
        "synth makes arrivals for it."
    )


def test_other_engines_are_refused_by_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B"
    asked = (launch, "--gpu", "L40S", "--workload", str(folder / "w.parquet"))
    assert refused(capsys, *asked, code=ExitCode.CANNOT_KNOW) == (
        "The scheduler of sglang is not simulated; vllm launches are simulated."
    )
