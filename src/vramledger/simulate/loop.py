"""The engine loop around the scheduler, in simulated time: the plain version, one step at a time.

After ``EngineCoreProc`` of vLLM 0.32.0: the loop takes in what has arrived, schedules a step, and with
asynchronous scheduling another one while the first runs; then it waits for the oldest step. So a request
waits for the end of a step before it is queued, and for the step after that to begin.

Time is whole nanoseconds. At one instant things happen in this order: clients that go away, tokens of the step that
ends, arrivals by rank, the next step.
"""

import heapq
from collections import deque
from collections.abc import Callable, Sequence

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.conservation import check_blocks, check_requests, check_step
from vramledger.simulate.diary import Diary
from vramledger.simulate.outcome import Ending, Outcome, StepRow
from vramledger.simulate.policy import Policy
from vramledger.simulate.request import Arrival, Request, Status
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.sentences import TIMES_ENOUGH, never_starts, outgrows
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features, Step, features_of

Cost = Callable[[Features], int]  # nanoseconds of a step
Observer = Callable[[Step, list[Request], Scheduler], None]  # told each step that came back


@frozen
class InFlight:
    """A step on the device."""

    step: Step
    end_ns: int


def simulate(
    settings: Settings,
    arrivals: Sequence[Arrival],
    cost: Cost,
    *,
    policy: Policy | None = None,
    seed: int = 0,
    observe: Observer | None = None,
) -> Outcome:
    """Run requests through one engine until all have ended or none can go on.

    Args:
        settings: the scheduler's arguments.
        arrivals: the requests in any order; equal times keep the order given.
        cost: nanoseconds of a step, a whole number of at least 0, from its features.
        policy: how requests are admitted and evicted; vLLM's by default.
        seed: decides which drafts are accepted.
        observe: told every step once its tokens are back.

    Raises:
        BadInput: for arrivals that mean nothing, or a cost that is no such number.
    """
    requests = _ranked(arrivals)
    engine = _Engine(settings, requests, cost, Scheduler(settings, policy, seed), observe)
    return engine.run()


def _ranked(arrivals: Sequence[Arrival]) -> list[Request]:
    for number, arrival in enumerate(arrivals):
        _refuse_nonsense(number, arrival)
    ordered = sorted(arrivals, key=lambda arrival: arrival.arrival_ns)
    return [Request(rank, arrival) for rank, arrival in enumerate(ordered)]


def _refuse_nonsense(number: int, arrival: Arrival) -> None:
    if arrival.arrival_ns < 0:
        raise BadInput(
            f"Request {number} arrives at {arrival.arrival_ns} ns, before the start; count times from the first arrival."
        )
    if arrival.input_tokens < 1 or arrival.output_tokens < 1:
        raise BadInput(
            f"Request {number} has {arrival.input_tokens} input and {arrival.output_tokens} output tokens, but needs at least one of each."
        )
    if arrival.salt < 0:
        raise BadInput(
            f"Request {number} has the prefix salt {arrival.salt}, but salts count from 0; give another."
        )
    if arrival.cancel_after_ns is not None and arrival.cancel_after_ns < 0:
        raise BadInput(
            f"Request {number} is cancelled {arrival.cancel_after_ns} ns after it arrives, which is before; give 0 or more."
        )


class _Engine:
    """One engine at work: the clock, what is to come, what is in flight."""

    def __init__(
        self,
        settings: Settings,
        requests: list[Request],
        cost: Cost,
        scheduler: Scheduler,
        observe: Observer | None,
    ) -> None:
        self.settings = settings
        self.requests = requests
        self.cost = cost
        self.scheduler = scheduler
        self.observe = observe
        self.diary = Diary(requests)
        self.steps: list[StepRow] = []
        self.now = 0
        self.device_free = 0
        self.to_come = deque(requests)
        self.leaving: list[tuple[int, int]] = []  # (when a client goes away, rank)
        self.in_flight: deque[InFlight] = deque()
        self.stuck = ""
        self.events = 0  # arrivals, tokens and ends so far
        self.events_then = 0
        self.outgrown: list[int] = []  # who outgrew the whole pool since the last event
        self.thrashes = False

    def run(self) -> Outcome:
        """The loop, until nothing is left that could happen."""
        while self._take_in():
            if self.thrashes:
                if not self._sit_out():
                    break
            elif not self._submit() and not self._wait():
                break
        return self._outcome()

    def _take_in(self) -> bool:
        """Arrivals up to now, and clients that are gone; an idle engine waits. False when all is done."""
        if self.scheduler.is_idle and not self.in_flight:
            if not self.to_come:
                return False
            self.now = max(self.now, self.to_come[0].arrival.arrival_ns)
        while self.to_come and self.to_come[0].arrival.arrival_ns <= self.now:
            self._queue(self.to_come.popleft())
        self._let_go()
        return True

    def _queue(self, request: Request) -> None:
        arrival = request.arrival
        if arrival.input_tokens >= self.settings.max_model_len:
            request.status = Status.ABORTED
            self.diary.end(request, Ending.REJECTED)
            return
        self.events += 1
        self.diary.queued(request, self.now)
        self.scheduler.add(request)
        if arrival.cancel_after_ns is not None:
            leaves = arrival.arrival_ns + arrival.cancel_after_ns
            heapq.heappush(self.leaving, (leaves, request.rank))

    def _let_go(self) -> None:
        """Abort requests whose clients went away."""
        while self.leaving and self.leaving[0][0] <= self.now:
            request = self.requests[heapq.heappop(self.leaving)[1]]
            if not request.is_over:
                self.events += 1
                self.scheduler.abort(request)
                self.diary.end(
                    request,
                    Ending.TIMED_OUT if request.arrival.times_out else Ending.CANCELLED,
                )

    def _submit(self) -> bool:
        """Schedule a step if one can be in flight; whether the loop shall go round before it waits."""
        if self.scheduler.is_idle:
            return not self.in_flight
        step = self.scheduler.schedule()
        check_step(self.scheduler.state, step)
        for request in step.preempted:
            self.diary.preempted(request)
        self._notice_thrashing(step)
        if not step.scheduled:
            return bool(step.preempted) and not self.in_flight
        self._send(step)
        return len(self.in_flight) < self.settings.steps_in_flight

    def _notice_thrashing(self, step: Step) -> None:
        """A request that outgrows the whole pool again and again, with no event in between, always will."""
        if step.outgrew is None:
            return
        if self.events > self.events_then:
            self.events_then = self.events
            self.outgrown.clear()
        self.outgrown.append(step.outgrew.rank)
        self.thrashes = self.outgrown.count(step.outgrew.rank) >= TIMES_ENOUGH

    def _sit_out(self) -> bool:
        """Skip endless recomputation up to what may end it; False when nothing can."""
        self.thrashes = False
        before = self.events
        while self.in_flight:
            self._wait()
        return self.events > before or self._wait_for_others()

    def _send(self, step: Step) -> None:
        features = features_of(step)
        lasts = self.cost(features)
        if not isinstance(lasts, int) or lasts < 0:
            raise BadInput(
                f"The cost of a step is {lasts!r}, but must be a whole number of nanoseconds, 0 or more."
            )
        start = max(self.now, self.device_free)
        self.device_free = start + lasts
        self.in_flight.append(InFlight(step, self.device_free))
        state = self.scheduler.state
        self.diary.sent(step, start, self.device_free, state)
        self.steps.append(
            StepRow(
                step.number,
                start,
                self.device_free,
                features,
                len(state.running),
                len(state.waiting),
                state.cache.pool.used_blocks,
                len(step.preempted),
            )
        )

    def _wait(self) -> bool:
        """Wait for the oldest step, or for whatever comes next; False when nothing can come."""
        if not self.in_flight:
            return self._wait_for_others()
        oldest = self.in_flight.popleft()
        self.now = max(self.now, oldest.end_ns)
        self._let_go()
        before = {request: request.generated for request in oldest.step.scheduled}
        ended = self.scheduler.settle(oldest.step)
        for request, had in before.items():
            if request.generated > had:
                self.events += 1
                self.diary.token(request, oldest.step, self.now)
        self.diary.back(oldest.step)
        for request in ended:
            asked = request.arrival.output_tokens
            self.diary.end(request, Ending.OK if request.generated >= asked else Ending.INCOMPLETE)
        if self.observe is not None:
            self.observe(oldest.step, ended, self.scheduler)
        return True

    def _wait_for_others(self) -> bool:
        """Nobody can be scheduled and nothing runs: only an arrival or a client that leaves changes that.

        An arrival behind a request that can never start does not help, but its client may leave.
        """
        events = [self.leaving[0][0]] if self.leaving else []
        events += [self.to_come[0].arrival.arrival_ns] if self.to_come else []
        if not events:
            self.stuck = self._why_stuck()
            return False
        self.now = max(self.now, min(events))
        return True

    def _why_stuck(self) -> str:
        state = self.scheduler.state
        request = state.running[0] if state.running else state.waiting.head()
        usable = state.cache.pool.size - 1
        if self.outgrown:
            return outgrows(self.outgrown[-1], usable)
        need = state.cache.need(request, min(request.tokens, self.settings.max_model_len))
        return never_starts(request.rank, request.tokens, need, usable)

    def _outcome(self) -> Outcome:
        for request in self.requests:
            self.diary.end(request, Ending.INCOMPLETE, unless_ended=True)
        check_blocks(self.scheduler.state.cache, self.requests)
        rows = self.diary.rows()
        check_requests(len(self.requests), (row.ending for row in rows))
        return Outcome(rows, tuple(self.steps), self.now, self.stuck, tuple(self.diary.pauses))
