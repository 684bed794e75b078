"""What a rehearsed server does with clients that go away, and with bytes that are no request."""

import json
import socket
import time
from pathlib import Path

import pytest

from rehearse_server import MODEL, Rehearsed, rehearsal

TEXT = "/v1/completions"
PLAN = """\
name: chat
model: meta-llama/Llama-3.1-8B
engine: {name: vllm, version: "0.32", args: {max-model-len: 8192}}
workload: {input_tokens: {p50: 1000, max: 4000}, output_tokens: {p50: 200, max: 900}, users: 10}
gpus: [H100-80GB-SXM]
"""
LONG = {"prompt": "the first", "max_tokens": 3000, "ignore_eos": True, "stream": True}


def _said(server: Rehearsed, data: bytes) -> bytes:
    """All that is answered to these bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(data)
        answer = b""
        while piece := client.recv(1 << 16):
            answer += piece
    return answer


def _posted(body: bytes) -> bytes:
    return b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


def _until(server: Rehearsed, name: str, value: float) -> dict[str, float]:
    """The page once it shows that, or as it is after a minute."""
    deadline = time.monotonic() + 60
    page = server.metrics()
    while page[name] != value and time.monotonic() < deadline:
        time.sleep(0.05)
        page = server.metrics()
    return page


def test_a_client_that_goes_away_ends_its_request_and_is_in_no_count_of_finished_ones(
    tmp_path: Path,
) -> None:
    with rehearsal(truth=tmp_path / "truth.csv") as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
            client.sendall(_posted(json.dumps(LONG).encode()))
            assert client.recv(1 << 12)
            _until(server, "vllm:num_requests_running", 1)
        page = _until(server, "vllm:num_requests_running", 0)
        (row,) = server.true_rows()

    assert page["vllm:num_requests_running"] == page["vllm:kv_cache_usage_perc"] == 0
    assert page["vllm:request_success_total"] == 0
    assert page["vllm:time_to_first_token_seconds_count"] == 1
    assert page["vllm:e2e_request_latency_seconds_count"] == 0
    assert row["ending"] == "gone"
    assert 0 < int(row["output_tokens"]) < 3000


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x00\x05hello\r\n\r\n", b"400 Bad Request"),
        (
            b"GET / HTTP/1.1\r\nx: " + b"a" * 70_000 + b"\r\n\r\n",
            b"431 Request Header Fields Too Large",
        ),
    ],
)
def test_bytes_that_are_no_request_are_refused_and_the_server_goes_on(
    data: bytes, status: bytes
) -> None:
    with rehearsal() as server:
        assert _said(server, data).startswith(b"HTTP/1.1 " + status)
        assert server.get("/health") == (200, b"")


def test_a_client_that_asks_whether_to_go_on_is_told_to() -> None:
    body = json.dumps({"prompt": "the", "max_tokens": 1}).encode()
    head = (
        b"POST /v1/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\nconnection: close\r\n"
    )
    with (
        rehearsal() as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=60) as client,
    ):
        client.sendall(head + b"content-length: %d\r\n\r\n" % len(body))
        assert client.recv(1 << 12) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(body)
        assert client.recv(1 << 12).startswith(b"HTTP/1.1 200 OK")


def test_a_request_in_pieces_and_chunks_is_put_together() -> None:
    body = json.dumps({"prompt": "the", "max_tokens": 1}).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    head = b"POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    with rehearsal() as server:
        assert _said(server, head + chunks).startswith(b"HTTP/1.1 200 OK")


def test_drafts_are_counted_and_bring_several_tokens_at_once() -> None:
    speculation = '{"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4}'
    launch = f"vllm serve {MODEL} --max-model-len 4096 --speculative-config '{speculation}'"
    with rehearsal("--acceptance", "0.8", launch=launch) as server:
        events = server.events(TEXT, LONG | {"max_tokens": 60})
        page = server.metrics()

    counts = [len(event["choices"][0]["text"].split()) for event in events]
    assert sum(counts) == 60
    assert max(counts) == 4
    assert page["vllm:spec_decode_num_draft_tokens_total"] > 0
    accepted = page["vllm:spec_decode_num_accepted_tokens_total"]
    assert accepted == 60 - len(events)


def test_a_plan_is_rehearsed_on_its_card_and_version(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN, encoding="utf-8")
    with rehearsal(launch=str(plan), gpu=None) as server:
        (card,) = json.loads(server.get("/v1/models")[1])["data"]
        version = json.loads(server.get("/version")[1])

    assert (card["id"], card["max_model_len"]) == ("meta-llama/Llama-3.1-8B", 8192)
    assert version == {"version": "0.32.0"}
