"""A trial through a gateway that writes an access log: whose time the first token took."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread

from commands import vram_here
from rehearse_server import rehearsal
from trial_command import result_of, steady_workload, trial_run
from vramledger.record.run import read_run
from vramledger.record.samples import STAGES
from vramledger.record.soundness import check_sound

HELD_S = 0.2  # by the gateway, before it sends on
COUNT = 12


@contextmanager
def gateway(port: int, log: Path) -> Iterator[str]:
    """Sends everything on to a port, and logs POSTs as nginx does."""
    writing = Lock()

    class Forward(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._forward(b"")

        def do_POST(self) -> None:
            began = time.time()
            body = self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(HELD_S)
            on = time.time()
            headers_s = self._forward(body) - on
            end = time.time()
            line = {
                "msec": f"{end:.6f}",
                "request_time": f"{end - began:.6f}",
                "upstream_response_time": f"{end - on:.6f}",
                "upstream_header_time": f"{headers_s:.6f}",
                "request_id": self.headers.get("x-request-id", ""),
            }
            with writing, log.open("a") as file:
                file.write(json.dumps(line) + "\n")

        def _forward(self, body: bytes) -> float:
            server = HTTPConnection("127.0.0.1", port, timeout=60)
            server.request(self.command, self.path, body or None, {"Content-Type": "application/json"})  # fmt: skip
            answer = server.getresponse()
            answered = time.time()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
            self.end_headers()
            while piece := answer.read1(1 << 16):
                self.wfile.write(piece)
                self.wfile.flush()
            server.close()
            return answered

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Forward) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def test_the_time_in_the_gateway_is_told_apart_on_the_runs_clock(tmp_path: Path) -> None:
    workload = steady_workload(tmp_path / "w.parquet", COUNT)
    log = tmp_path / "access.log"
    with rehearsal() as server, gateway(server.port, log) as address:
        options = ("--json", "--cold", "--stages", str(log))
        found = result_of(trial_run(address, workload, tmp_path / "run", *options))
    assert found["requests"]["ok"] == COUNT
    stages = found["ttft_stages"]
    assert (stages["requests"], stages["of_ok"]) == (COUNT, COUNT)
    assert HELD_S <= stages["gateway"]["p50"] < HELD_S + 0.1
    assert stages["gateway"]["p50"] < found["ok_only_from_dispatch"]["ttft_s"]["p50"]
    run = read_run(tmp_path / "run")
    check_sound(run)
    clock = run.description.clock
    error = clock.offset_errors_s["target-0"]
    assert abs(clock.offsets_s["target-0"]) <= error + 0.01  # it is this machine
    ways = stages["to_the_server"]
    assert -error - 0.02 < ways["p50"] < error + 0.1
    rows = run.table(STAGES).read().to_pylist()
    assert len(rows) == 3 * COUNT
    sent = dict(zip(*(run.requests.read(("request_id", "dispatched_s")).to_pydict().values()), strict=True))  # fmt: skip
    begun = {row["request_id"]: row["start_s"] for row in rows if row["stage"] == "gateway"}
    assert all(abs(begun[number] - sent[number]) < error + 0.3 for number in sent)
    (note,) = [each for each in run.journal().entries if each.event == "stages_read"]
    assert (note.details["requests"], note.details["error_s"]) == (COUNT, error)
    assert "TTFT in stages" in vram_here(["trial", "show", "run"], tmp_path).stdout


def test_a_file_that_is_not_there_is_said_and_spoils_nothing(tmp_path: Path) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 3)
    with rehearsal() as server:
        options = ("--json", "--cold", "--stages", str(tmp_path / "none"))
        found = result_of(trial_run(server.address, workload, tmp_path / "run", *options))
    assert (found["requests"]["ok"], found["ttft_stages"]) == (3, None)
    (note,) = [each for each in found["events"] if each["event"] == "stages_unread"]
    assert "none cannot be read (No such file or directory)" in note["why"]
