"""What keeps a trial from running, or spoils it, is one sentence and an exit code."""

import http.server
import json
import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rehearse_server import Rehearsed, rehearsal
from stored_workloads import request, stored
from trial_command import result_of, steady_workload, trial_run
from vramledger.record.run import read_run
from vramledger.trial.server import ask_server

KEY = "sk-planted-7f3a9c51e2"


@pytest.fixture(scope="module")
def server() -> Iterator[Rehearsed]:
    with rehearsal("--speed", "5") as running:
        yield running


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    return steady_workload(tmp_path / "w.parquet", 20, 0.05)


@contextmanager
def answering(status: int, wanted: str | None = None) -> Iterator[tuple[str, list[str | None]]]:
    """A server of one status for everything; its address and the Authorization headers it saw."""
    seen: list[str | None] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given = self.headers.get("Authorization")
            seen.append(given)
            body = b'{"data": [{"id": "m"}]}'
            self.send_response(200 if wanted is not None and given == wanted else status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the library looks for that name

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}", seen
        finally:
            listening.shutdown()
            thread.join()


def refusal(url: str, workload: Path, *options: str, **settings: Any) -> str:
    """The sentence with exit code 2; no folder is left behind."""
    out = workload.parent / "refused"
    done = trial_run(url, workload, out, *options, **settings)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert not out.exists()
    assert [path.name for path in workload.parent.iterdir() if path.name.startswith(".")] == []
    *_, last = done.stderr.splitlines()
    return last.removeprefix("vram: ")


def test_an_expired_key_is_told_apart_from_no_server(workload: Path) -> None:
    with answering(401) as (url, _):
        said = refusal(url, workload, "--key-env", "OLD_KEY", env=os.environ | {"OLD_KEY": KEY})
        assert said == (
            f"{url} answers 401 to /v1/models: it wants another key; name the environment variable or the file that holds "
            "the right one."
        )
    assert (
        "check that an OpenAI-compatible server is up at that address."
        in refusal(  # nothing listens any more
            url, workload
        )
    )


def test_the_servers_clock_is_compared_with_ours() -> None:
    with answering(200) as (url, _):
        began = time.monotonic()
        here = ask_server(url).clock_offset_s
        ahead = ask_server(url, now=lambda: time.time() - 100).clock_offset_s
        took_s = time.monotonic() - began
    assert here is not None
    assert ahead is not None
    assert abs(here) <= 0.6 + took_s  # the header has whole seconds
    assert abs(ahead - 100) <= 0.6 + took_s


def test_a_server_that_is_loading_is_waited_for(workload: Path) -> None:
    with answering(503) as (url, _):
        assert refusal(url, workload) == (
            f"{url} answers 503: it is still loading, so wait until it is ready."
        )


def test_no_name_and_no_tls_are_said(server: Rehearsed, workload: Path) -> None:
    assert "gives no list of models" in refusal("http://no-such-host.invalid:8000", workload)
    said = refusal(f"https://127.0.0.1:{server.port}", workload)
    assert "the TLS handshake failed" in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--for", "soon"), "'soon' is no time; write seconds, or 90s, 10m, 1h30m, 2d."),
        (("--drain", "0s"), "--drain 0s is out of range; take more than 0 and at most a year."),
        (
            ("--rate-scale", "0"),
            "--rate-scale is 0; it is a factor on the arrivals above 0 and up to 1000.",
        ),
        (
            ("--interval", "1ms"),
            "--interval 1ms is shorter than 50ms, which would load the server.",
        ),
        (
            ("--interval", "250"),
            ("--interval 250 is 250 s between two samples, in which a full cache and a queue come and go unseen; take 10s or "
            "less. A number without a unit is in seconds: write 250ms for a quarter of one."),
        ),
        (("--key-env", "NO_SUCH_KEY"), "$NO_SUCH_KEY holds no API key; put the key there, on one line."),
        (
            ("--key-env", "A", "--key-file", "b"),
            "--key-env and --key-file both name a key; give one of them.",
        ),
        (
            ("--body", '{"temperature": NaN}'),
            """--body {"temperature": NaN} is no JSON object; give fields for every request, such as '{"temperature": 0}'.""",
        ),
        (("--closed", "0"), "--closed 0 is no number of clients; take 1 or more."),
        (
            ("--body", '{"stream": false}'),
            "--body sets stream, which the trial sets itself; leave it out: every answer is streamed.",
        ),
    ],
)  # fmt: skip
def test_options_that_mean_nothing_are_refused(
    server: Rehearsed, workload: Path, options: tuple[str, ...], sentence: str
) -> None:
    assert refusal(server.address, workload, *options) == sentence


def test_a_folder_that_cannot_be_written_is_refused(
    server: Rehearsed, workload: Path, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "file").touch()
    done = trial_run(server.address, workload, taken)
    assert done.returncode == 2
    assert "holds something already; name a folder that is not there yet." in done.stderr
    done = trial_run(server.address, workload, Path("/proc/run"))
    assert done.returncode == 2
    assert "/proc/run cannot be written" in done.stderr


def test_a_full_disk_ends_the_trial_with_a_sentence(server: Rehearsed, tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk; Python ignores its signal, so writing fails as on a full one."""
    workload = steady_workload(tmp_path / "w.parquet", 400, 0.02)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    done = trial_run(server.address, workload, tmp_path / "run", preexec_fn=limited)
    assert done.returncode == 2
    assert "cannot be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_that_is_not_served_is_told_from_those_that_are(
    server: Rehearsed, workload: Path
) -> None:
    served = json.loads(server.get("/v1/models")[1])["data"][0]["id"]
    assert refusal(server.address, workload, "--model", "no-such-model") == (
        "Unknown model 'no-such-model' in --model; nothing known comes near it. "
        f"{server.address} serves {served}."
    )


def test_a_server_that_answers_nothing_decides_nothing(workload: Path, tmp_path: Path) -> None:
    with rehearsal("--fault", "error:1") as broken:
        done = trial_run(broken.address, workload, tmp_path / "run", "--token-ids", "--api", "completions")  # fmt: skip
    assert done.returncode == 3
    assert "The server did not answer a request of a few words (http_500)" in done.stderr


def test_a_planted_key_is_in_no_artefact(workload: Path, tmp_path: Path) -> None:
    """Neither from the environment nor from a file; the server is one that repeats the key in its errors."""
    key_file = tmp_path / "secret" / "key"
    key_file.parent.mkdir()
    key_file.write_text(KEY + "\n")
    with rehearsal("--fault", "error:0.3", "--seed", "2") as server:
        for number, options in enumerate(
            (("--key-env", "PLANTED_KEY"), ("--key-file", str(key_file)))
        ):
            folder = tmp_path / f"run-{number}"
            done = trial_run(
                server.address,
                workload,
                folder,
                "--json",
                "--cold",
                *options,
                env=os.environ | {"PLANTED_KEY": KEY},
            )
            if done.returncode == 3 and not done.stdout:
                pytest.skip("the server's faults hit the requests that count tokens")
            result_of(done)
            read_run(folder)
            for text in (done.stdout, done.stderr):
                assert KEY not in text
            for path in folder.rglob("*"):
                assert path.is_dir() or KEY.encode() not in path.read_bytes()
            about = json.loads((folder / "run.json").read_text())
            assert about["trial"]["target"]["key_env"] == (None if number else "PLANTED_KEY")


def test_the_key_is_sent(workload: Path) -> None:
    """To the server, and only where one is named."""
    with answering(401, wanted=f"Bearer {KEY}") as (url, seen):
        done = trial_run(
            url, workload, workload.parent / "run", "--key-env", "K", env=os.environ | {"K": KEY}
        )
    assert done.returncode in (2, 3)  # it is no real server
    assert set(seen) == {f"Bearer {KEY}"}
    assert KEY not in done.stderr


def test_more_clients_than_sockets_are_refused(workload: Path, tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    nobody = "http://127.0.0.1:9"
    done = trial_run(nobody, workload, tmp_path / "run", "--closed", "500", "--workers", "2", preexec_fn=limited)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "vram: --closed 500 needs 250 connections at a time in a process, and this machine lets one open 256 files "
        "(ulimit -Hn); raise that, give more --workers, or take fewer clients.\n"
    )
    done = trial_run(nobody, workload, tmp_path / "run", "--closed", "1000000", "--workers", "256")
    assert done.returncode == 2
    assert " take fewer clients" in done.stderr


def test_a_client_without_sockets_records_that_and_decides_nothing(
    server: Rehearsed, tmp_path: Path
) -> None:
    rows = (request(row, arrival_s=0.0, input_tokens=20, output_tokens=60) for row in range(150))
    workload = stored(tmp_path / "w.parquet", rows)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    options = ("--cold", "--json", "--workers", "1")
    done = trial_run(server.address, workload, tmp_path / "run", *options, preexec_fn=limited)
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    assert found["requests"]["offered"] == 150
    assert "no_sockets" in [each["class"] for each in found["errors"]]
    assert "it had no socket for" in done.stdout


def test_a_run_that_cannot_begin_leaves_nothing(
    server: Rehearsed, workload: Path, tmp_path: Path
) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = trial_run(server.address, workload, tmp_path / "run", preexec_fn=limited)
    assert done.returncode == 2
    assert "cannot be written: File too large" in done.stderr
    assert not (tmp_path / "run").exists()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
