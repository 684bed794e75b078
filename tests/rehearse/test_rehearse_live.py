"""The simulated engine in real time: the loop that halts, clients that go, wake-ups, the delay that is told."""

import asyncio
import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulated import MS, arrival, settings, ten_ms
from vramledger.errors import BadInput
from vramledger.rehearse.live.alarm import LoopAlarm, TimerAlarm
from vramledger.rehearse.live.clock import Clock, starting_now
from vramledger.rehearse.live.driver import Driver
from vramledger.rehearse.live.lag import Lag
from vramledger.rehearse.live.live_loop import LiveLoop
from vramledger.rehearse.live.ticket import Ticket
from vramledger.simulate.loop import simulate
from vramledger.simulate.request import Arrival, Status
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Settings
from vramledger.simulate.state import State


class Client:
    """Notes when tokens came."""

    finish, max_tokens = "length", 1

    def __init__(self) -> None:
        self.came: list[tuple[int, int]] = []  # (simulated time, count)
        self.wall: list[int] = []
        self.over = False

    def tokens(self, count: int, now: int, *, last: bool) -> None:
        self.came.append((now, count))
        self.wall.append(time.monotonic_ns())
        self.over = last


class Book:
    """Counts what an observer is told."""

    def __init__(self) -> None:
        self.hits: list[int] = []
        self.made = self.generated = self.done = 0

    def admitted(self, ticket: Ticket) -> None:
        self.hits.append(ticket.hit_tokens)

    def tokens(self, ticket: Ticket, count: int, before_ns: int | None, now: int) -> None:
        del ticket, before_ns, now
        self.generated += count

    def drafted(self, drafts: int, accepted: int) -> None:
        del drafts, accepted

    def finished(self, ticket: Ticket) -> None:
        del ticket
        self.done += 1

    def stepped(self, tokens: int, state: State) -> None:
        del state
        self.made += tokens


def _engine(engine: Settings, book: Book | None = None) -> LiveLoop:
    return LiveLoop(Scheduler(engine), ten_ms, book or Book())


def _raised(error: Exception) -> None:
    raise error


async def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not come"
        await asyncio.sleep(0.005)


def _ticket(number: int, one: Arrival) -> tuple[Ticket, Client]:
    client = Client()
    return Ticket(number, one.arrival_ns, one, client), client


ARRIVALS = st.lists(
    st.builds(arrival, st.integers(1, 90), st.integers(1, 60), st.integers(0, 300)),
    min_size=1,
    max_size=12,
)


@given(
    arrivals=ARRIVALS,
    halts=st.lists(st.integers(0, 500 * MS), max_size=8),
    caches=st.booleans(),
)
def test_a_loop_that_halts_brings_tokens_when_one_that_does_not_brings_them(
    *, arrivals: Sequence[Arrival], halts: Sequence[int], caches: bool
) -> None:
    engine = settings(prefix_caching=caches, num_blocks=45)
    ordered = sorted(arrivals, key=lambda one: one.arrival_ns)
    book = Book()
    loop, clients = _engine(engine, book), []
    halting = iter(sorted(halts))
    halt = next(halting, None)
    for number, one in enumerate(ordered):
        while halt is not None and halt <= one.arrival_ns:
            loop.advance(halt)
            halt = next(halting, None)
        loop.advance(one.arrival_ns)
        ticket, client = _ticket(number, one)
        loop.serve(ticket)
        clients.append(client)
    loop.advance()

    outcome = simulate(engine, ordered, ten_ms)
    for client, request in zip(clients, outcome.requests, strict=True):
        assert sum(count for _, count in client.came) == request.output_tokens
        assert client.came[0][0] == request.first_token_ns
        assert client.came[-1][0] == request.last_token_ns
        assert client.over
    assert book.done == len(arrivals)
    assert book.generated == sum(one.output_tokens for one in arrivals)
    assert not loop.diary.tickets  # type: ignore[attr-defined]  # nothing is kept of what is over


def test_a_client_that_goes_frees_its_blocks_at_the_end_of_the_step() -> None:
    loop = _engine(settings())
    ticket, client = _ticket(0, arrival(40, 50))
    loop.serve(ticket)
    loop.advance(65 * MS)
    assert ticket.request is not None
    held = loop.view().free_blocks

    loop.leave(ticket.request, 65 * MS)
    assert loop.view().free_blocks == held
    loop.advance(100 * MS)

    assert ticket.request.status is Status.ABORTED
    assert loop.view().free_blocks == 64
    assert not client.over
    assert loop.next_moment is None


def test_a_client_that_goes_before_it_was_taken_in_is_never_served() -> None:
    loop = _engine(settings())
    first, _ = _ticket(0, arrival(8, 3))
    second, client = _ticket(1, arrival(8, 3, at_ms=4))
    loop.serve(first)
    loop.advance(4 * MS)
    loop.serve(second)
    assert second.request is not None

    loop.leave(second.request, 6 * MS)
    loop.advance()

    assert second.request.status is Status.ABORTED
    assert client.came == []
    assert first.delivered == 3


def test_a_client_that_goes_while_it_waits_leaves_the_others_alone() -> None:
    loop = _engine(settings(max_num_seqs=1))
    first, _ = _ticket(0, arrival(8, 5))
    second, client = _ticket(1, arrival(8, 3))
    loop.serve(first)
    loop.serve(second)
    loop.advance(25 * MS)
    assert second.request is not None

    loop.leave(second.request, 25 * MS)
    loop.advance()
    loop.leave(second.request, loop.now)  # again, and nothing happens

    assert client.came == []
    assert first.delivered == 5
    assert loop.next_moment is None


def test_hits_are_told_when_a_request_is_admitted() -> None:
    book = Book()
    loop = _engine(settings(prefix_caching=True), book)
    for number, at in enumerate((0, 100)):
        loop.advance(at * MS)
        loop.serve(_ticket(number, arrival(10, 1, at, prefix=(1, 2)))[0])
    loop.advance()

    assert book.hits == [0, 8]
    assert book.made == 10 + 1 + 2 + 1


@pytest.mark.parametrize("kind", [TimerAlarm, LoopAlarm])
def test_an_alarm_rings_at_its_last_setting_only(kind: type[TimerAlarm | LoopAlarm]) -> None:
    async def rung() -> list[int]:
        times: list[int] = []
        alarm = kind(asyncio.get_running_loop(), lambda: times.append(time.monotonic_ns()))
        began = time.monotonic_ns()
        alarm.set(began + 10 * MS)
        alarm.set(began + 60 * MS)
        await asyncio.sleep(0.2)
        alarm.set(began)  # past
        await asyncio.sleep(0.1)
        alarm.set(time.monotonic_ns() + 20 * MS)
        alarm.set(None)
        await asyncio.sleep(0.1)
        alarm.close()
        return [at - began for at in times]

    first, second = asyncio.run(rung())

    assert first >= 59 * MS
    assert second >= 190 * MS


def test_a_driver_brings_tokens_at_their_time_and_not_before() -> None:
    late: list[float] = []

    async def served() -> tuple[Clock, Client]:
        clock = starting_now(1.0)
        driver = Driver(
            _engine(settings()), clock, asyncio.get_running_loop(), late.append, _raised
        )
        ticket, client = _ticket(0, arrival(8, 10, at_ms=20))
        driver.submit(ticket)
        await _until(lambda: client.over)
        driver.close()
        return clock, client

    clock, client = asyncio.run(served())

    assert [now for now, _ in client.came] == [(30 + 10 * step) * MS for step in range(10)]
    due = [clock.monotonic(now) for now, _ in client.came]
    behind = [at - when for at, when in zip(client.wall, due, strict=True)]
    assert min(behind) >= 0
    assert min(behind) < 20 * MS + max(late) * 1e9  # as late as it tells, and no later
    assert min(late) >= 0


def test_a_client_that_goes_before_its_request_arrives_is_never_sent() -> None:
    async def served() -> tuple[Ticket, Client]:
        driver = Driver(
            _engine(settings()),
            starting_now(1.0),
            asyncio.get_running_loop(),
            lambda _: None,
            _raised,
        )
        ticket, client = _ticket(0, arrival(8, 2, at_ms=30))
        driver.submit(ticket)
        driver.leave(ticket)
        await asyncio.sleep(0.1)
        driver.close()
        return ticket, client

    ticket, client = asyncio.run(served())

    assert ticket.request is None
    assert client.came == []


def test_an_engine_that_fails_is_told_once_and_nothing_happens_after() -> None:
    failed: list[Exception] = []

    async def served() -> Client:
        engine = LiveLoop(Scheduler(settings()), lambda _: -1, Book())
        driver = Driver(
            engine, starting_now(1.0), asyncio.get_running_loop(), lambda _: None, failed.append
        )
        ticket, client = _ticket(0, arrival(8, 2))
        driver.submit(ticket)
        await _until(lambda: bool(failed))
        driver.submit(_ticket(1, arrival(8, 2))[0])
        await asyncio.sleep(0.1)
        return client

    client = asyncio.run(served())

    (error,) = failed
    assert isinstance(error, BadInput)
    assert client.came == []


def test_a_clock_of_another_speed_maps_times_both_ways() -> None:
    clock = Clock(zero_ns=1000, speed=4.0)

    assert clock.simulated(1000 + 50) == 200
    assert clock.monotonic(200) == 1050
    assert clock.simulated(clock.monotonic(201)) >= 201
    assert clock.seconds(4_000_000_000) == 1.0


def test_a_delay_is_said_once_in_ten_seconds_and_forgotten_after_ten() -> None:
    said: list[str] = []
    now = [0]
    lag = Lag(said.append, lambda: now[0])
    lag.late(0.05)
    assert (lag.seconds, said) == (0.05, [])

    for second in range(12):
        now[0] = second * 1_000_000_000
        lag.late(0.25)
    assert lag.seconds == 0.25
    assert len(said) == 2
    assert said[0] == (
        "The rehearsal is 0.25 s behind its own time, so that latencies are longer than simulated; lower the load or "
        "--speed, or give it a core of its own."
    )
    now[0] = 40_000_000_000
    assert lag.seconds == 0
