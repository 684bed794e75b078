"""A live server is looked at without a request of ours: limits under load, an idle one, one that dies and one that begins again."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from commands import VRAM, vram_here
from documents.json_keys import covers, documented, printed_paths
from rehearse_server import LAUNCH, rehearsal
from stored_workloads import request, stored
from trial_command import await_requests, interrupt, started
from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.diagnosis import Judged, judged_run
from vramledger.errors import ExitCode
from vramledger.record.document import Ended
from vramledger.record.run import read_run
from vramledger.trial.conduct.looking import LookAsked, Looked, look
from vramledger.trial.sampling.sampler import Level

HERE = Path(__file__).parent
JSON_PAGE = HERE.parents[1] / "docs" / "reference" / "json.md"
LONG_S = 600.0  # every look here is ended by what was seen, not by its time


def looked(url: str, folder: Path, enough: Callable[[int], bool]) -> Looked:
    """A look that Ctrl-C ends once the callback, which is called again and again with how often it was, says so."""
    calls = 0

    def progress(_t_s: float, _for_s: float, level: Level | None) -> None:
        nonlocal calls
        calls += 1
        if level is not None and enough(calls):
            os.kill(os.getpid(), signal.SIGINT)

    asked = LookAsked(url, for_s=LONG_S, interval_s=0.05)
    return look(asked, folder, lambda _: None, progress)


def judged_of(folder: Path) -> Judged:
    return judged_run(read_run(folder), Stated())


@contextmanager
def under_load(
    url: str, folder: Path, *options: str, input_tokens: int, output_tokens: int, gap_s: float
) -> Iterator[None]:
    """Our own client in another process sends requests of one size."""
    folder.mkdir()
    rows = (
        request(
            row,
            arrival_s=row * gap_s,
            input_tokens=input_tokens + row % 16,
            output_tokens=output_tokens + row % 8,
        )
        for row in range(2000)
    )
    workload = stored(folder / "w.parquet", rows)
    options = ("--cold", "--workers", "1", "--for", "10m", *options)
    with started(url, workload, folder / "trial", *options) as client:
        await_requests(folder / "trial", 20, client)
        yield
        client.kill()


@pytest.mark.parametrize(
    ("cause", "flags", "size", "change"),
    [
        ("sequence_cap", "--max-num-seqs 4", (60, 60), ("max-num-seqs", "6")),
        ("kv_cache", "--num-gpu-blocks-override 300", (900, 200), ("max-num-seqs", None)),
    ],
)
def test_what_holds_the_queue_is_seen_from_outside(
    cause: str, flags: str, size: tuple[int, int], change: tuple[str, str | None], tmp_path: Path
) -> None:
    with (
        rehearsal(launch=f"{LAUNCH} {flags}") as server,
        under_load(server.address, tmp_path / "load", "--closed", "16", input_tokens=size[0], output_tokens=size[1], gap_s=0.01),
    ):  # fmt: skip
        looked(server.address, tmp_path / "look", lambda calls: calls >= 12)
    found = judged_of(tmp_path / "look")
    first = found.findings[0]
    assert first.cause == cause
    assert found.exit_code is ExitCode.DOES_NOT_HOLD
    assert first.next_change is not None
    assert first.next_change.flag == change[0]
    assert change[1] in (None, first.next_change.value)


def test_a_server_with_room_is_healthy_as_far_as_pages_show(tmp_path: Path) -> None:
    with (
        rehearsal() as server,
        under_load(server.address, tmp_path / "load", input_tokens=60, output_tokens=30, gap_s=0.2),
    ):
        seen = looked(server.address, tmp_path / "look", lambda calls: calls >= 10)
    found = judged_of(tmp_path / "look")
    (only,) = found.findings
    assert only.cause == "healthy"
    assert found.exit_code is ExitCode.HOLDS
    assert "What lies between clients and the server was not seen." in only.unseen
    assert "The requests were not seen." in only.unseen
    assert seen.interrupted
    assert read_run(tmp_path / "look").description.ended is Ended.INTERRUPTED


def test_a_server_that_serves_nobody_cannot_be_known(tmp_path: Path) -> None:
    with rehearsal() as server:
        looked(server.address, tmp_path / "look", lambda calls: calls >= 5)
    found = judged_of(tmp_path / "look")
    assert found.findings[0].message == (
        "Nobody was served while the server was looked at, so that nothing can be said of how it serves; look again under load."
    )
    assert found.exit_code is ExitCode.CANNOT_KNOW
    assert found.picture.evidence.missing[0] == (
        "No request was recorded, so that what clients see, and the way between them and the server, were not seen."
    )


def test_a_server_that_dies_midway_is_an_error(tmp_path: Path) -> None:
    with rehearsal() as server:

        def enough(calls: int) -> bool:
            if calls == 4:
                server.stop(signal.SIGKILL)
            return calls >= 8

        looked(server.address, tmp_path / "look", enough)
    found = judged_of(tmp_path / "look")
    assert found.findings[0].cause == "failures"
    assert found.exit_code is ExitCode.DOES_NOT_HOLD
    (silence,) = found.picture.evidence.silences
    assert silence.gone
    assert silence.to_the_end
    assert f"The server was gone from second {silence.from_s:.0f} on ({silence.why}), and was not back at the end." in found.findings[0].supports  # fmt: skip
    assert found.picture.evidence.missing[-1].startswith(f"From second {silence.from_s:.0f} to the end no metrics page was read, as ")  # fmt: skip


def test_a_server_that_begins_again_midway_is_an_error(tmp_path: Path) -> None:
    with ExitStack() as open_ones:
        server = open_ones.enter_context(rehearsal())
        back_at = 0

        def enough(calls: int) -> bool:
            nonlocal back_at
            if calls == 4:
                server.stop(signal.SIGKILL)
                open_ones.enter_context(rehearsal(port=server.port))
                back_at = calls
            return bool(back_at) and calls >= back_at + 4

        looked(server.address, tmp_path / "look", enough)
    found = judged_of(tmp_path / "look")
    assert found.findings[0].cause == "failures"
    (silence,) = found.picture.evidence.silences
    assert not silence.to_the_end
    assert "The server restarted in the run." in found.findings[0].supports


def test_ctrl_c_keeps_what_was_seen_and_judges_it_twice_alike(tmp_path: Path) -> None:
    with rehearsal() as server:
        command = [*VRAM, "diagnose", "--url", f"{server.address}/metrics", "--interval", "100ms", "--keep", "kept", "--json"]  # fmt: skip
        with subprocess.Popen(
            command,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            while "looking at" not in (line := process.stderr.readline()):
                assert line
            interrupt(process)
            out, _ = process.communicate(timeout=180)
    assert process.returncode == 3
    answer = json.loads(out)
    assert answer["look"]["interrupted"] is True
    assert answer["look"]["asked_s"] == 300
    assert answer["look"]["seen_s"] < 300
    keys = documented(JSON_PAGE.read_text(encoding="utf-8"))["vramledger.diagnosis/1"]
    assert [path for path in printed_paths(answer) if not covers(keys, path)] == []
    again = vram_here(["diagnose", "kept", "--json"], tmp_path)
    assert again.returncode == 3
    assert json.loads(again.stdout)["findings"] == answer["findings"]
    assert json.loads((tmp_path / "kept" / "run.json").read_text())["origin"] == "rehearsed"


class _Page(BaseHTTPRequestHandler):
    """A server of some model whose page is another program's."""

    text: bytes | None = None
    keys: list[str | None]

    def do_GET(self) -> None:
        models = json.dumps({"object": "list", "data": [{"id": "m"}]}).encode()
        pages = {"/v1/models": models, "/metrics": self.text}
        self.keys.append(self.headers.get("Authorization"))
        body = pages.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: Any) -> None:
        """Silent."""


@contextmanager
def serving(text: bytes | None) -> Iterator[tuple[str, list[str | None]]]:
    keys: list[str | None] = []
    handler = type("Handler", (_Page,), {"text": text, "keys": keys})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", keys
        finally:
            server.shutdown()
            thread.join()


def test_a_page_of_no_engine_is_refused(tmp_path: Path) -> None:
    with serving(b"node_load1 0.5\n") as (url, _):
        done = vram_here(["diagnose", "--url", url], tmp_path)
    assert done.returncode == 3
    assert done.stderr.endswith(
        f"vram: {url}/metrics has no metric of a serving engine that is known; name the engine's own page with --metrics URL.\n"
    )


def test_a_server_without_a_page_is_refused(tmp_path: Path) -> None:
    with serving(None) as (url, _):
        done = vram_here(["diagnose", "--url", url], tmp_path)
    assert done.returncode == 3
    assert done.stderr.endswith(
        f"vram: {url} shows no metrics page (it answers 404), and from outside nothing else tells of its engine; name the page with --metrics URL, "
        "or record a load with vram trial run.\n"
    )


def test_the_key_is_sent_and_never_kept(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-secret-of-the-look\n")
    page = b'vllm:num_requests_running{model_name="m"} 0\nvllm:num_requests_waiting{model_name="m"} 0\n'
    with serving(page) as (url, keys):
        done = vram_here(["diagnose", "--url", url, "--for", "1s", "--interval", "100ms", "--key-file", "key", "--keep", "kept"], tmp_path)  # fmt: skip
    assert done.returncode == 3
    assert set(keys) == {"Bearer sk-secret-of-the-look"}
    assert not [each for each in (tmp_path / "kept").rglob("*") if each.is_file() and b"sk-secret" in each.read_bytes()]  # fmt: skip
    assert "sk-secret" not in done.stdout + done.stderr


def test_a_server_that_is_not_there_is_refused(tmp_path: Path) -> None:
    done = vram_here(["diagnose", "--url", "http://127.0.0.1:9"], tmp_path)
    assert done.returncode == 2
    assert done.stderr.endswith(
        "vram: http://127.0.0.1:9 gives no list of models at /v1/models: nothing listens there; check that an OpenAI-compatible server is up at that address.\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("run",), "A run and --url ask different questions; ask one at a time."),
        (("--against", "r"), "--against compares two runs of one load, and a look sends none; leave it out."),
        (("--server-log", "s"), "--server-log has no part with --url; ask one at a time."),
        (("--key-env", "A", "--key-file", "b"), "--key-env and --key-file both name a key; give one of them."),
        (("--for", "0s"), "--for 0s is out of range; take more than 0 and at most a week."),
        (("--for", "2s", "--interval", "1m"), "--interval 1m is out of range; take 50ms to the time of --for."),
        (("--gpu-selector", "x"), "--gpu-selector picks from a Prometheus server; name it with --gpu-metrics URL."),
        (("--metrics", "a", "--metrics", "b"), "--url has one metrics page; give --metrics once at most."),
    ],
)  # fmt: skip
def test_options_without_sense_are_refused(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = vram_here(["diagnose", "--url", "http://127.0.0.1:9", *options], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"vram: {said}\n")


def test_what_only_a_live_server_has_a_use_for_is_refused_without_one(tmp_path: Path) -> None:
    done = vram_here(["diagnose", "run", "--keep", "there"], tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "vram: --keep is of a live server; name it with --url, or leave it out.\n",
    )


def test_two_pages_at_once_are_refused(tmp_path: Path) -> None:
    done = vram_here(["diagnose", "--metrics", "a.txt", "--metrics", "b.txt"], tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "vram: --metrics explains one page at a time; give it once.\n",
    )
