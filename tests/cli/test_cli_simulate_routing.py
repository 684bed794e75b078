"""``vram simulate`` with routers, closed loops, and prefill servers."""

import json
from pathlib import Path
from typing import Any

import pytest

from stored_workloads import chats, stored
from vramledger.cli.main import run
from vramledger.errors import ExitCode
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound

ASKED = (
    "simulate", "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192 --max-num-seqs 4", "--gpu",
    "H100-80GB-SXM", "--engine-version", "0.32.0", "--workload", "w.parquet",
)  # fmt: skip
LINK = ("--kv-link-gib-s", "40")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(tmp_path / "w.parquet", chats(12, span_s=6))
    monkeypatch.chdir(tmp_path)


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run([*ASKED, *arguments, "--json"]) == ExitCode.HOLDS
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("router", ["least-loaded", "prefix-aware"])
def test_a_router_is_told_in_the_answer_and_in_the_run(
    router: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answered(capsys, "--replicas", "3", "--router", router, "-o", "r")
    assert (found["router"], found["closed"], found["prefill_servers"]) == (router, None, None)
    assert found["requests"]["ok"] == found["requests"]["offered"] == 48
    assert (found["pools"], found["kv_link_gib_s"], found["kv_link_ms"]) == (None, None, None)
    run_json = json.loads(Path("r/run.json").read_text(encoding="utf-8"))
    assert run_json["router"] == router
    check_sound(read_run(Path("r")))


def test_prefix_aware_routing_finds_more_of_a_conversation_than_the_least_loaded_server_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    least, aware = (
        answered(capsys, "--replicas", "3", "--router", router, "-o", router)
        for router in ("least-loaded", "prefix-aware")
    )
    assert aware["prefix_hit_share"] > least["prefix_hit_share"] + 0.1


def test_a_closed_loop_keeps_its_requests_in_flight(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "--closed", "3", "-o", "r")
    assert found["closed"] == 3
    assert found["requests"]["ok"] == 48
    assert found["running"]["max"] == 3
    assert found["waiting"]["max"] == 0
    check_sound(read_run(Path("r")))
    run_json = json.loads(Path("r/run.json").read_text(encoding="utf-8"))
    assert run_json["closed"] == 3


def test_prefill_servers_keep_prompts_out_of_the_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answered(capsys, "--prefill-servers", "2", *LINK, "--replicas", "2", "-o", "r")
    together = answered(capsys, "--replicas", "4", "-o", "t")
    assert found["requests"]["ok"] == 48
    assert found["pools"]["prefill"]["engines"] == found["pools"]["decode"]["engines"] == 2
    assert found["pools"]["transfer_s"]["p50"] > 0.001  # the latency, and bytes besides
    assert found["itl_s"]["max"] < together["itl_s"]["max"]
    assert (found["prefill_servers"], found["kv_link_gib_s"], found["kv_link_ms"]) == (2, 40, 1)
    check_sound(read_run(Path("r")))


def test_the_report_tells_of_the_servers(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--prefill-servers", "1", *LINK, "--router", "least-loaded", "--closed", "6")
    assert run([*ASKED, *arguments, "-o", "r"]) == ExitCode.HOLDS
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[2] == "1 prefill and 1 decode servers, router least-loaded, closed loop of 6 requests"
    )
    at = lines.index("SIMULATED pools")
    assert lines[at + 1].split()[:3] == ["pool", "engines", "busy"]
    assert [lines[at + 3].split()[0], lines[at + 4].split()[0]] == ["prefill", "decode"]
    assert lines[at + 5].startswith("transfers   ")
    assert (
        "note: A closed loop of 6 requests in flight: the workload's order is kept, its times of arrival are not."
        in lines
    )
    assert (
        "note: Each server's link carries 40 GiB/s in each direction, one cache at a time, and every transfer takes "
        "1 ms more (assumed, as given)." in lines
    )


def test_data_parallel_engines_in_turn_are_said_not_to_be_vllms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    launch = "vllm serve Qwen/Qwen3-30B-A3B --max-model-len 8192 -dp 2"
    asked = (
        "simulate",
        launch,
        "--gpu",
        "H200-141GB-SXM",
        "--workload",
        "w.parquet",
        "--no-prefix",
    )
    assert run([*asked, "-o", "r"]) == ExitCode.HOLDS
    said = (
        "note: Data-parallel engines take turns here; vLLM itself sends to the least loaded, which --router "
        "least-loaded simulates."
    )
    assert said in capsys.readouterr().out.splitlines()
    assert run([*asked, "--router", "least-loaded", "-o", "s"]) == ExitCode.HOLDS
    assert said not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--closed", "0"),
            "--closed is 0; it must be a whole number of requests from 1 to 1,000,000.",
        ),
        (
            ("--closed", "4", "--rate-scale", "2"),
            (
                "--closed sends a request when another ends, so there are no arrivals for --rate-scale to scale; give "
                "one of the two."
            ),
        ),
        (
            ("--prefill-servers", "0", *LINK),
            "--prefill-servers is 0; it must be a whole number from 1 to 1024.",
        ),
        (
            ("--prefill-servers", "1"),
            (
                "State the link between prefill and decode servers with --kv-link-gib-s; one 400 Gbit/s port carries at "
                "most 46.6."
            ),
        ),
        (
            ("--prefill-servers", "1", "--kv-link-gib-s", "0"),
            "--kv-link-gib-s is 0; it is a rate above 0 and up to 1e+06.",
        ),
        (
            ("--prefill-servers", "1", "--kv-link-gib-s", "nan"),
            "--kv-link-gib-s is nan; it is a rate above 0 and up to 1e+06.",
        ),
        (
            ("--prefill-servers", "1", *LINK, "--kv-link-ms", "-1"),
            "--kv-link-ms is -1; it is a time from 0 to 60000 ms.",
        ),
        (
            LINK,
            (
                "--kv-link-gib-s is the link from prefill to decode servers, and there are none; give --prefill-servers "
                "too, or leave it out."
            ),
        ),
        (
            ("--router", "least-loaded", "--policy", "static"),
            (
                "Policies other than vllm, and traces of steps, take engines one by one; leave out --router, --closed and "
                "--prefill-servers, or --policy and --trace-steps."
            ),
        ),
        (
            ("--router", "least"),
            "Invalid value for '--router': 'least' is not one of 'round-robin', 'least-loaded', 'prefix-aware'.",
        ),
    ],
)
def test_nonsense_is_refused_in_a_sentence(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*ASKED, *arguments]) == ExitCode.BAD_INPUT
    assert says in capsys.readouterr().err
    assert not Path("runs").exists()


def test_windows_are_not_sent_between_pools(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (
        "simulate", "vllm serve openai/gpt-oss-20b", "--gpu", "H100-80GB-SXM", "--workload", "w.parquet",
    )  # fmt: skip
    assert run([*asked, "--prefill-servers", "1", *LINK, "-o", "r"]) == ExitCode.CANNOT_KNOW
    assert "How sliding windows and recurrent states are sent" in capsys.readouterr().err
