"""The engine loop around the scheduler, in simulated time: the plain version, one step at a time.

After ``EngineCoreProc`` of vLLM 0.32.0: the loop takes in what has arrived, schedules a step, and with
asynchronous scheduling another one while the first runs; then it waits for the oldest step. So a request
waits for the end of a step before it is queued, and for the step after that to begin.

Time is whole nanoseconds. At one instant things happen in this order: clients that go away, tokens of the step that
ends, arrivals by rank, the next step. The loop can halt before any of them and go on later as if it had not, so that
requests may be sent to it while it is under way.
"""

from collections import deque
from collections.abc import Callable
from enum import Enum, auto

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.conservation import check_blocks, check_requests, check_step
from vramledger.simulate.diary import Diary
from vramledger.simulate.due import Due, earliest
from vramledger.simulate.outcome import Ending, Outcome
from vramledger.simulate.pipeline import Pipeline
from vramledger.simulate.request import Arrival, Request, Status
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.sentences import never_starts, outgrows
from vramledger.simulate.step import Features, Step, features_of
from vramledger.simulate.thrashing import Thrashing
from vramledger.simulate.view import FOREVER, Kind, Moment, View

Cost = Callable[[Features], int]  # nanoseconds of a step
# Told each step that came back, and those that only preempted.
Observer = Callable[[Step, list[Request], Scheduler], None]


@frozen
class InFlight:
    """A step on the device."""

    step: Step
    end_ns: int


class Phase(Enum):
    """Where the loop stands."""

    TURN = auto()  # about to take in arrivals and to schedule a step
    WAITING = auto()  # for the oldest step in flight, or for whatever comes next
    SITTING = auto()  # endless recomputation is skipped until what is in flight is back


class EngineLoop:
    """One engine at work: the clock, what is to come, what is in flight.

    `more` is whether requests may be sent that are not known yet; `stops` whether `advance` halts as soon as a
    request is over.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        cost: Cost,
        observe: Observer | None = None,
        *,
        stops: bool = False,
    ) -> None:
        self.settings = scheduler.settings
        self.scheduler = scheduler
        self.cost = cost
        self.observe = observe
        self.stops = stops
        self.more = True
        self.requests: list[Request] = []
        self.diary = Diary()
        self.phase = Phase.TURN
        self.now = 0
        self.device = Pipeline(self.settings.pipeline_stages)
        self.to_come = deque[Request]()
        self.leaving = Due()  # when clients go away
        self.in_flight = deque[InFlight]()
        self.stuck = ""
        self.ended = 0  # requests that are over
        self.prompt_tokens = 0  # of the requests that wait or run
        self.events = 0  # arrivals, tokens and ends so far
        self.events_before = 0  # when the loop began to sit out
        self.thrashing = Thrashing()

    def send(self, arrival: Arrival) -> Request:
        """A request that will arrive: not before the one sent last, nor where the loop has been."""
        request = Request(len(self.requests), arrival)
        self.requests.append(request)
        self.diary.open(request)
        self.to_come.append(request)
        return request

    def advance(self, until: int = FOREVER) -> None:
        """Let everything happen up to a time: steps that end then too, but no turn that begins then."""
        news = self.news
        while self._go_on(until) and not (self.stops and self.news > news):
            pass

    @property
    def news(self) -> int:
        """How much has happened that others may want to know."""
        return self.ended

    def finish(self) -> Outcome:
        """Nobody else comes: everything that can still happen, and what became of it all."""
        self.more = self.stops = False
        self.advance()
        self._close()
        for request in self.requests:
            self.diary.end(request, Ending.INCOMPLETE, unless_ended=True)
        check_blocks(self.scheduler.state.cache, self.requests)
        rows = self.diary.rows()
        check_requests(len(self.requests), (row.ending for row in rows))
        steps, pauses = tuple(self.diary.steps), tuple(self.diary.pauses)
        return Outcome(rows, steps, self.now, self.stuck, pauses)

    def _close(self) -> None:
        """All is over."""

    def view(self) -> View:
        """The load as it is now."""
        state = self.scheduler.state
        return View(
            waiting=state.waits,
            running=len(state.running),
            sent=len(self.to_come),
            prompt_tokens=self.prompt_tokens,
            free_blocks=state.cache.pool.free_blocks,
        )

    @property
    def next_moment(self) -> Moment | None:
        """When it does something next, None when that depends on what is sent to it."""
        if self.phase is Phase.TURN:
            when = self._turn_begins()
            return None if when is None else Moment(when, Kind.TURN)
        if self.in_flight:
            return Moment(max(self.now, self.in_flight[0].end_ns), Kind.END)
        when = self.now if self._sat_out else self._others_come()
        return None if when is None else Moment(max(self.now, when), Kind.END)

    def _go_on(self, until: int) -> bool:
        """One turn, or one step awaited; False when nothing may happen yet, or ever."""
        if self.phase is Phase.TURN:
            return self._turn(until)
        if self.in_flight:
            if self.in_flight[0].end_ns > until:
                return False
            self._settle(self.in_flight.popleft())
            if self.phase is Phase.WAITING:
                self.phase = Phase.TURN
            return True
        if self._sat_out:
            self.phase = Phase.TURN
            return True
        return self._wait_for_others(until)

    @property
    def _sat_out(self) -> bool:
        """Whether something happened while endless recomputation was skipped."""
        return self.phase is Phase.SITTING and self.events > self.events_before

    def _turn_begins(self) -> int | None:
        """When the next turn begins: an idle engine waits for an arrival."""
        if not self.scheduler.is_idle or self.in_flight:
            return self.now
        return max(self.now, self.to_come[0].arrival.arrival_ns) if self.to_come else None

    def _turn(self, until: int) -> bool:
        """Take in what has arrived, and schedule a step."""
        when = self._turn_begins()
        if when is None or when >= until:
            return False
        self.now = when
        self._take_in()
        if self.thrashing.found:
            self.thrashing.found = False
            self.events_before = self.events
            self.phase = Phase.SITTING
        elif not self._submit():
            self.phase = Phase.WAITING
        return True

    def _take_in(self) -> None:
        """Arrivals up to now, and clients that are gone."""
        while self.to_come and self.to_come[0].arrival.arrival_ns <= self.now:
            self._queue(self.to_come.popleft())
        self._let_go()

    def _queue(self, request: Request) -> None:
        arrival = request.arrival
        if arrival.input_tokens >= self.settings.max_model_len:
            request.status = Status.ABORTED
            self._over(request, Ending.REJECTED)
            return
        self.events += 1
        self.prompt_tokens += arrival.input_tokens
        self.diary.queued(request, self.now)
        self.scheduler.add(request)
        if arrival.cancel_after_ns is not None:
            self.leaving.add(arrival.arrival_ns + arrival.cancel_after_ns, request.rank)

    def _let_go(self) -> None:
        """Abort requests whose clients went away."""
        for rank in self.leaving.taken(self.now):
            request = self.requests[rank]
            if not request.is_over:
                self.events += 1
                self.scheduler.abort(request)
                gone = Ending.TIMED_OUT if request.arrival.times_out else Ending.CANCELLED
                self._end(request, gone)

    def _end(self, request: Request, ending: Ending) -> None:
        """A request that waited or ran is over."""
        self.prompt_tokens -= request.prompt
        self._over(request, ending)

    def _over(self, request: Request, ending: Ending) -> None:
        self.ended += 1
        self.diary.end(request, ending)

    def _submit(self) -> bool:
        """Schedule a step if one can be in flight; whether the loop shall go round before it waits."""
        if self.scheduler.is_idle:
            return not self.in_flight
        step = self.scheduler.schedule()
        check_step(self.scheduler.state, step)
        self._note(step)
        if not step.scheduled:
            if step.preempted and self.observe is not None:
                self.observe(step, [], self.scheduler)
            return bool(step.preempted) and not self.in_flight
        self._send(step)
        return len(self.in_flight) < self.settings.steps_in_flight

    def _note(self, step: Step) -> None:
        """A step has been decided."""
        for request in step.preempted:
            self.diary.preempted(request)
        self.thrashing.notice(step, self.events)

    def _send(self, step: Step) -> None:
        features = features_of(step)
        lasts = self.cost(features)
        if not isinstance(lasts, int) or lasts < 0:
            raise BadInput(
                f"The cost of a step is {lasts!r}, but must be a whole number of nanoseconds, 0 or more."
            )
        passage = self.device.send(self.now, lasts)
        self.in_flight.append(InFlight(step, passage.end_ns))
        self.diary.sent(step, passage, features, self.scheduler.state)

    def _settle(self, oldest: InFlight) -> None:
        """A step is back: its tokens come, requests end."""
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
            self._end(request, Ending.OK if request.generated >= asked else Ending.INCOMPLETE)
        if self.observe is not None:
            self.observe(oldest.step, ended, self.scheduler)

    def _others_come(self) -> int | None:
        """When an arrival or a client that leaves changes something, with nothing to schedule or to await."""
        arrives = self.to_come[0].arrival.arrival_ns if self.to_come else None
        return earliest(self.leaving.first, arrives)

    def _wait_for_others(self, until: int) -> bool:
        """Nobody can be scheduled and nothing runs: only an arrival or a client that leaves changes that.

        An arrival behind a request that can never start does not help, but its client may leave.
        """
        when = self._others_come()
        if when is None:
            self.stuck = "" if self.more else self._why_stuck()
            return False
        if when > until:
            return False
        self.now = max(self.now, when)
        self.phase = Phase.TURN
        return True

    def _why_stuck(self) -> str:
        state = self.scheduler.state
        request = state.running[0] if state.running else state.waiting.head()
        usable = state.cache.pool.size - 1
        outgrown = self.thrashing.last
        if outgrown is not None and not self.requests[outgrown].is_over:
            return outgrows(outgrown, usable)
        need = state.cache.need(request, min(request.tokens, self.settings.max_model_len))
        return never_starts(request.rank, request.tokens, need, usable)
