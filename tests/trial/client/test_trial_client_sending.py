"""When requests leave and how they end, against real servers on loopback."""

import asyncio
import time
from functools import partial
from pathlib import Path

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from adversary import adversary
from requests_to_send import planned
from truth_server import truth_server
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.client.client import Client
from vramledger.trial.client.single import fetch_all, fetch_one
from vramledger.trial.client.turns import Turns
from vramledger.trial.client.wakeup import BusyWait, KernelTimer
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Target


class Rows:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.begun: list[RequestRecord] = []
        self.ended: list[RequestRecord] = []

    def begin(self, record: RequestRecord) -> None:
        self.begun.append(record)

    def append(self, record: RequestRecord) -> None:
        self.ended.append(record)


def by_number(records: list[RequestRecord]) -> dict[int, RequestRecord]:
    return {record.request_id: record for record in records}


def test_requests_leave_when_they_are_due_and_not_before() -> None:
    dues = [0.05, 0.05, 0.12, 0.2]
    with adversary() as server:
        load = [planned(number, due) for number, due in enumerate(dues)]
        records = fetch_all(Target(server.url(), "/v1/good"), load, zero_ns=None)
    due_s = [by_number(records)[number].due_s for number in range(4)]
    assert [round(due - due_s[0], 6) for due in due_s] == pytest.approx(
        [0, 0, 0.07, 0.15], abs=1e-5
    )
    for record in records:
        assert record.dispatched_s is not None
        assert record.dispatched_s >= record.due_s


def test_moments_come_in_their_order() -> None:
    with adversary() as server:
        record = fetch_one(Target(server.url(), "/v1/good"), planned())
    moments = [
        record.due_s, record.dispatched_s, record.headers_s, record.first_byte_s, record.first_role_s,
        record.first_content_s, record.last_content_s, record.done_s,
    ]  # fmt: skip
    known = [moment for moment in moments if moment is not None]
    assert len(known) == len(moments)
    assert known == sorted(known)


def test_a_closed_loop_keeps_its_number_under_way(tmp_path: Path) -> None:
    _need_compiler()
    with truth_server(tmp_path / "t.csv", "--ttft-us", "20000", "--gap-us", "1000") as server:
        load = [planned(number, tokens=5) for number in range(12)]
        records = fetch_all(Target(server.url), load, closed=3)
    spans = [(r.dispatched_s or 0.0, r.done_s or 0.0) for r in records]
    under_way = [sum(a <= at < b for a, b in spans) for at, _ in spans]
    assert max(under_way) == 3
    assert [r.outcome for r in records] == [Outcome.OK] * 12
    dues = sorted(r.due_s for r in records)
    dones = sorted(b for _, b in spans)
    waits = [due - done for due, done in zip(dues[3:], dones, strict=False)]
    assert min(waits) >= 0  # each is due when one before it ended
    assert min(waits) < 0.01  # a busy machine reads the end of an answer late now and then


def test_a_later_turn_waits_for_the_turn_before_and_for_thought(tmp_path: Path) -> None:
    _need_compiler()
    with truth_server(tmp_path / "t.csv", "--ttft-us", "60000", "--gap-us", "1000") as server:
        load = [
            planned(0, 0.0, session=1, turn=0),
            planned(1, 0.01, session=1, turn=1, think_s=0.05),
            planned(2, 0.02, session=2, turn=0),
            planned(3, 1.5, session=1, turn=2, think_s=0.05),
        ]
        found = by_number(fetch_all(Target(server.url), load))
    done = {number: record.done_s or 0.0 for number, record in found.items()}
    assert done[0] + 0.05 - 1e-6 <= found[1].due_s <= (found[1].dispatched_s or 0.0)
    assert found[2].due_s < found[1].due_s
    own_s = found[0].due_s + 1.5
    assert found[3].due_s >= max(own_s, done[1] + 0.05) - 1e-6
    if done[1] + 0.1 < own_s:  # thought of earlier, unless the machine was busy
        assert found[3].due_s == pytest.approx(own_s, abs=1e-6)


def test_clients_leave_when_the_workload_says_so(tmp_path: Path) -> None:
    _need_compiler()
    log = tmp_path / "t.csv"
    with truth_server(log, "--ttft-us", "20000", "--gap-us", "10000") as server:
        load = [
            planned(0, tokens=9_000, cancel_after_s=3.0),
            planned(1, tokens=9_000, cancel_after_s=3.0, times_out=True),
            planned(2, tokens=3, cancel_after_s=60.0),
        ]
        found = by_number(fetch_all(Target(server.url), load, closed=3))
    assert (found[0].outcome, found[0].error_class) == (Outcome.CANCELLED, None)
    assert (found[1].outcome, found[1].error_class) == (Outcome.TIMED_OUT, "client_timeout")
    assert found[2].outcome is Outcome.OK
    left = found[0]
    assert left.done_s is not None
    assert 2.99 <= left.done_s - left.due_s < 60  # the whole answer takes 90 s
    assert 1 <= (left.output_tokens_got or 0) < 9_000
    assert left.tokens_basis == "chunks"
    endings = sorted(request.ending for request in server.requests().values())
    assert endings == ["left", "left", "ok"]


def test_a_request_may_take_no_longer_than_the_limit(tmp_path: Path) -> None:
    _need_compiler()
    with truth_server(tmp_path / "t.csv", "--gap-us", "10000") as server:
        limits = Limits(request_s=0.5)
        record = fetch_one(Target(server.url), planned(tokens=900), limits=limits)
    assert (record.outcome, record.error_class) == (Outcome.TIMED_OUT, "request_timeout")


def test_a_connection_that_the_server_closed_meanwhile_is_no_failure() -> None:
    with adversary() as server:
        target = Target(server.url(), "/v1/kept_once")
        rows = Rows()

        async def run() -> int:
            load = iter([planned(0, 0.0), planned(1, 0.049), planned(2, 0.0495), planned(3, 0.3)])
            client = Client(target, load, rows, time.monotonic_ns())
            await client.run(time.monotonic_ns())
            return client.health.reopened

        reopened = uvloop.run(run())
    assert [record.outcome for record in rows.ended] == [Outcome.OK] * 4
    assert reopened <= 3


def test_connections_are_used_again() -> None:
    with adversary() as server:
        load = [planned(number) for number in range(10)]
        records = fetch_all(Target(server.url(), "/v1/kept"), load, closed=1)
    assert [record.outcome for record in records] == [Outcome.OK] * 10
    assert server.connections == 1


def test_what_is_under_way_is_told_before_it_ends_and_written_when_called_off() -> None:
    rows = Rows()
    with adversary() as server:

        async def run() -> None:
            load = iter([planned(0, 0.0), planned(1, 30.0)])
            client = Client(Target(server.url(), "/v1/stalled"), load, rows, time.monotonic_ns())
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(client.run(time.monotonic_ns()))
                while not rows.begun:  # noqa: ASYNC110 - a list does not tell
                    await asyncio.sleep(0.01)
                client.cancel()

        uvloop.run(run())
    assert [record.request_id for record in rows.begun] == [0]
    assert [record.request_id for record in rows.ended] == [0]
    for record in (*rows.begun, *rows.ended):
        assert (record.outcome, record.error_class) == (Outcome.INCOMPLETE, "run_ended")
        assert record.done_s is None


def test_a_drain_lets_what_is_under_way_end(tmp_path: Path) -> None:
    _need_compiler()
    rows = Rows()
    with truth_server(tmp_path / "t.csv", "--ttft-us", "300000", "--gap-us", "1000") as server:

        async def run() -> None:
            load = iter([planned(0, 0.0), planned(1, 0.2), planned(2, 30.0)])
            client = Client(Target(server.url), load, rows, time.monotonic_ns())
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(client.run(time.monotonic_ns()))
                while client.counts.sent < 2:  # noqa: ASYNC110 - a count does not tell
                    await asyncio.sleep(0.01)
                client.drain()

        uvloop.run(run())
    assert sorted(record.request_id for record in rows.ended) == [0, 1]
    assert {record.outcome for record in rows.ended} == {Outcome.OK}


@pytest.mark.parametrize("kind", [KernelTimer, BusyWait])
def test_a_wake_up_comes_at_its_moment_and_never_before(
    kind: type[KernelTimer] | type[BusyWait],
) -> None:
    late: list[int] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        for milliseconds in (0.3, 2.7, 12.4):
            done = loop.create_future()
            timer = kind(loop, partial(_now, done))
            moment = time.monotonic_ns() + round(milliseconds * 1e6)
            timer.at(moment + 60_000_000_000)
            timer.at(moment)
            late.append(await done - moment)
            timer.close()

    uvloop.run(run())
    assert min(late) >= 0
    assert max(late) < 50_000_000_000  # not the first moment but the second counts
    assert min(late) < 100_000_000  # the machine may be busy, but not each time


def _now(done: "asyncio.Future[int]") -> None:
    done.set_result(time.monotonic_ns())


TURNS = st.lists(
    st.tuples(st.integers(0, 2), st.floats(0, 2), st.integers(0, 1_000)), min_size=1, max_size=20
)


@given(TURNS)
def test_turns_of_a_conversation_never_overlap_and_none_is_lost(
    asked: list[tuple[int, float, int]],
) -> None:
    """Requests are read in order; whichever is due first ends next, after the time that it takes."""
    turns = Turns(0)
    agenda: list[tuple[int, int, PlannedRequest]] = []
    seen: set[int] = set()
    ends: dict[int, int] = {}
    takes = {number: took for number, (_, _, took) in enumerate(asked)}
    for number, (session, think_s, _) in enumerate(asked):
        request = planned(
            number, number * 0.1, session=session, think_s=think_s if session in seen else None
        )
        seen.add(session)
        due = turns.due_ns(request)
        if due is not None:
            agenda.append((due, number, request))
    order: dict[int, list[int]] = {}
    while agenda:
        first = min(agenda, key=lambda item: item[:2])
        agenda.remove(first)
        moment, number, request = first
        session = request.session or 0
        if request.think_s is not None:
            assert moment >= ends[session] + round(request.think_s * 1e9)
        assert moment >= round((request.due_s or 0) * 1e9)
        ends[session] = moment + takes[number]
        order.setdefault(session, []).append(number)
        following = turns.ended(request, ends[session])
        if following is not None:
            agenda.append((turns.following_ns(following, ends[session]), following.number, following))  # fmt: skip
    assert turns.waiting == 0
    assert sorted(number for numbers in order.values() for number in numbers) == list(takes)
    assert all(numbers == sorted(numbers) for numbers in order.values())


def test_a_closed_loop_without_a_place_sends_nothing_and_ends() -> None:
    with adversary() as server:
        assert fetch_all(Target(server.url(), "/v1/good"), [planned(0)], closed=0) == []
    assert not server.bodies


def test_what_comes_after_the_end_of_an_answer_does_not_count() -> None:
    with adversary() as server:
        record = fetch_one(Target(server.url(), "/v1/goes_on"), planned())
    assert record.outcome is Outcome.OK
    assert (record.output_tokens_got, len(record.chunk_offset_us or ())) == (2, 2)


def test_bodies_arrive_whole_also_when_the_kernel_takes_them_in_parts() -> None:
    large = b'{"max_tokens":2,"x":"' + b"y" * 20_000_000 + b'"}'
    with adversary() as server:
        request = PlannedRequest(0, 0, None, large, None, 2)
        record = fetch_one(Target(server.url(), "/v1/good"), request)
    assert record.outcome is Outcome.OK
    assert server.bodies == [large]
    assert record.dispatched_s is not None
    assert record.dispatched_s > record.due_s


def _need_compiler() -> None:
    import shutil

    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler for the server that tells true times")
