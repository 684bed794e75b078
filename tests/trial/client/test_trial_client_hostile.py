"""What a client must bear beside wrong answers: absurd numbers of places, shut doors, servers that repeat the key."""

import asyncio
import socket
import time
from dataclasses import replace
from itertools import count

import pytest
import uvloop

import adversary as wrong
from adversary import ANSWERS, GOOD, adversary, chunk
from requests_to_send import planned
from vramledger.trial.client.flow import Flow, Ready
from vramledger.trial.client.single import fetch_all, fetch_one
from vramledger.trial.wire.target import Target

KEY = "sk-planted-0123456789"


def test_a_huge_number_of_places_is_filled_a_little_at_a_time() -> None:
    sent: list[Ready] = []
    at_first_look: list[int] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        flow = Flow(loop, (planned(number) for number in count()), sent.append, 50_000)
        flow.start(time.monotonic_ns())
        while not sent:  # noqa: ASYNC110 - the loop itself is looked at
            await asyncio.sleep(0)
        at_first_look.append(len(sent))
        while len(sent) < 50_000:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        flow.stop()

    uvloop.run(run())
    assert at_first_look[0] < 50_000  # the loop had its turn in between
    assert [ready.planned.number for ready in sent] == list(range(50_000))
    assert len({ready.due_ns for ready in sent}) == 1  # all were due at the start


def test_places_do_not_run_against_a_closed_door_without_a_pause() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    began = time.monotonic()
    records = fetch_all(Target(f"http://127.0.0.1:{port}"), [planned(n) for n in range(12)], 2)
    assert {record.error_class for record in records} == {"connect_refused"}
    assert len(records) == 12
    assert time.monotonic() - began > 0.45  # five pauses of each place


@pytest.mark.parametrize(
    "answer",
    [
        ANSWERS["good"].replace(b"Transfer", b"X-Request-Id: Bearer %b\r\nTransfer" % KEY.encode()).replace(b"a-1", b""),
        wrong.STREAM + chunk(GOOD.replace(b"a-1", KEY.encode())) + wrong.END,
    ],
)  # fmt: skip
def test_an_identity_that_repeats_the_key_is_left_out(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANSWERS, "repeats_the_key", answer)
    monkeypatch.setenv("MY_KEY", KEY)
    with adversary() as server:
        target = Target(server.url(), "/v1/repeats_the_key", key_env="MY_KEY")
        record = fetch_one(target, planned())
        told = fetch_one(replace(target, key_env=None), planned())
    assert record.server_request_id is None
    assert record.output_tokens_got == 2
    assert told.server_request_id is not None


def test_what_says_identity_in_any_case_is_not_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    for said in (b"Identity", b" identity ", b""):
        answer = ANSWERS["good"].replace(b"Transfer", b"Content-Encoding: %b\r\nTransfer" % said)
        monkeypatch.setitem(ANSWERS, "plain", answer)
        with adversary() as server:
            assert fetch_one(Target(server.url(), "/v1/plain"), planned()).error_class is None


def test_a_retry_after_beyond_all_numbers_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ANSWERS, "late", wrong.error("429 No", f"Retry-After: {'9' * 400}"))
    with adversary() as server:
        record = fetch_one(Target(server.url(), "/v1/late"), planned())
    assert (record.error_class, record.retry_after_s) == ("http_429", None)
