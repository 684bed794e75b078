"""``vram rehearse`` as a command: what it prints, how it ends, what it refuses."""

import json
import signal
import socket
from pathlib import Path

import pytest

from commands import said, vram, vram_here
from rehearse_server import GPU, LAUNCH, MODEL, rehearsal

CARD = ["--gpu", GPU]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_it_serves_until_a_signal_comes(how: signal.Signals, code: int) -> None:
    with rehearsal() as server:
        assert server.address == f"http://127.0.0.1:{server.port}"
        assert server.get("/health")[0] == 200
        assert server.stop(how) == code
        assert server.process.stdout is not None
        assert server.process.stderr is not None
        assert server.process.stdout.read() == ""
        (sentence,) = server.process.stderr.read().splitlines()

    assert sentence.startswith(f"Rehearsing {MODEL} on vLLM 0.33 and {GPU}, all of it simulated: ")


def test_a_server_that_was_killed_is_followed_by_another_on_the_same_port() -> None:
    with rehearsal() as first:
        first.get("/health")
        first.stop(signal.SIGKILL)
        with rehearsal(port=first.port) as second:
            assert second.get("/health") == (200, b"")
            assert second.metrics()["http_requests_total"] == 1


def test_the_same_requests_in_the_same_order_are_answered_alike() -> None:
    prompts = ["the first", "say it again", "go"]
    answers = []
    for seed in ("4", "4", "5"):
        with rehearsal("--seed", seed) as server:
            bodies = [
                server.post("/v1/completions", {"prompt": prompt, "max_tokens": 40})[1]
                for prompt in prompts
            ]
        answers.append([json.loads(body)["choices"] for body in bodies])

    assert answers[0] == answers[1]
    assert answers[0] != answers[2]


def test_a_name_given_to_the_served_model_is_the_one_requests_ask_for() -> None:
    with rehearsal(launch=f"{LAUNCH} --served-model-name tiny other") as server:
        names = [card["id"] for card in json.loads(server.get("/v1/models")[1])["data"]]
        asked = {"model": "other", "prompt": "the", "max_tokens": 1}
        answer = json.loads(server.post("/v1/completions", asked)[1])
        page = server.get("/metrics")[1]

    assert names == ["tiny", "other"]
    assert answer["model"] == "other"
    assert b'vllm:num_requests_running{engine="0",model_name="tiny"}' in page


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = vram(["rehearse", LAUNCH, *CARD, "--port", str(port)], tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(
        f"Nothing can be served on 127.0.0.1 port {port}: Address already in use; choose another --port, or 0 for a free "
        "one.\n"
    )
    assert "Traceback" not in done.stderr


def test_a_deployment_that_does_not_start_is_not_served(tmp_path: Path) -> None:
    done = vram(["rehearse", "vllm serve meta-llama/Llama-3.1-70B-Instruct", *CARD], tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("DOES NOT START, so nothing is served: ")


def test_several_engines_behind_one_address_are_refused(tmp_path: Path) -> None:
    done = vram_here(["rehearse", f"{LAUNCH} --data-parallel-size 2", *CARD], tmp_path)

    assert done.returncode == 3
    assert done.stderr == (
        "vram: The launch has 2 data-parallel engines, and one engine is rehearsed; leave out "
        "--data-parallel-size.\n"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "State the accelerator with --gpu NAME; vram gpus lists the names."),
        (
            [*CARD, "--speed", "0"],
            "--speed is 0; it is simulated seconds a second, above 0 and up to 1000.",
        ),
        (
            [*CARD, "--mean-output", "0"],
            "--mean-output is 0; it is a number of tokens from 1 on.",
        ),
        (
            [*CARD, "--acceptance", "2"],
            "--acceptance is 2; it is a share of the drafts, from 0 to 1.",
        ),
        (
            [*CARD, "--truth", "absent/truth.csv"],
            "absent/truth.csv cannot be written: No such file or directory; name another file with --truth.",
        ),
    ],
)
def test_options_that_mean_nothing_are_refused(
    options: list[str], sentence: str, tmp_path: Path
) -> None:
    done = vram_here(["rehearse", LAUNCH, *options], tmp_path)

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"vram: {sentence}"


def test_other_engines_are_refused(tmp_path: Path) -> None:
    done = vram_here(
        ["rehearse", f"python -m sglang.launch_server --model-path {MODEL}", *CARD], tmp_path
    )

    assert done.returncode == 3
    assert "The scheduler of sglang is not simulated; vllm launches are rehearsed." in done.stderr


def test_an_unknown_fault_names_the_nearest(tmp_path: Path) -> None:
    sentence = said(["rehearse", LAUNCH, *CARD, "--fault", "stal:0.1:1s"], tmp_path, vram_here)

    assert sentence.startswith("Unknown fault 'stal' in --fault; the nearest known one")
