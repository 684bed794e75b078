"""The engine loop for a server that goes on: requests are told of their tokens, and forgotten once they are over."""

from dataclasses import replace
from typing import Protocol

from vramledger.rehearse.live.ticket import Ticket
from vramledger.simulate.diary import Diary
from vramledger.simulate.engine_loop import Cost, EngineLoop
from vramledger.simulate.outcome import Ending
from vramledger.simulate.pipeline import Passage
from vramledger.simulate.request import Request, Status
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.state import State
from vramledger.simulate.step import Features, Step


class Observer(Protocol):
    """Who keeps count; times are simulated nanoseconds."""

    def admitted(self, ticket: Ticket) -> None:
        """Its first step was scheduled."""

    def tokens(self, ticket: Ticket, count: int, before_ns: int | None, now: int) -> None:
        """So many more tokens, the ones before them at `before_ns`, None where these are the first."""

    def drafted(self, drafts: int, accepted: int) -> None:
        """So many drafts of a request were verified."""

    def finished(self, ticket: Ticket) -> None:
        """It has all its tokens."""

    def stepped(self, tokens: int, state: State) -> None:
        """A step is back, with so many tokens made or prompts' tokens finished."""


class LiveDiary(Diary):
    """Writes what happens onto tickets instead of pages, and keeps nothing of what is over."""

    def __init__(self, observer: Observer) -> None:
        super().__init__()
        self.observer = observer
        self.tickets: dict[int, Ticket] = {}  # of requests under way, by rank
        self._made = 0  # tokens of the step that comes back

    def open(self, request: Request) -> None:
        """Nothing until its ticket is known."""

    def queued(self, request: Request, now: int) -> None:
        """The loop took a request in."""
        self.tickets[request.rank].queued_ns = now

    def preempted(self, request: Request) -> None:
        """Its own count tells."""

    def sent(self, step: Step, passage: Passage, features: Features, state: State) -> None:
        """A step went to the device."""
        del features, state
        for rank, hit in step.hit_tokens.items():
            ticket = self.tickets[rank]
            if ticket.scheduled_ns is None:
                ticket.scheduled_ns, ticket.hit_tokens = passage.start_ns, hit
                self.observer.admitted(ticket)

    def token(self, request: Request, step: Step, now: int) -> None:
        """A step brought a request at least one token."""
        ticket = self.tickets[request.rank]
        count, before = request.generated - ticket.delivered, ticket.last_ns
        if before is None:
            ticket.first_ns = now
            self._made += request.prompt - ticket.hit_tokens
        ticket.delivered, ticket.last_ns = request.generated, now
        self._made += count
        self.observer.tokens(ticket, count, before, now)
        drafts = step.drafts.get(request, 0)
        if drafts:
            self.observer.drafted(drafts, count - 1)
        if request.is_over:
            self.observer.finished(ticket)
        ticket.receiver.tokens(count, now, last=request.is_over)

    def back(self, step: Step) -> None:
        """All its tokens are told; those it made are asked for once."""

    def end(self, request: Request, ending: Ending, *, unless_ended: bool = False) -> None:
        """A request is over; what it shared has its name by now."""
        del ending, unless_ended
        self.tickets.pop(request.rank, None)
        request.arrival = replace(request.arrival, prefix=())

    def take_made(self) -> int:
        """Tokens since this was asked last."""
        made, self._made = self._made, 0
        return made


class LiveLoop(EngineLoop):
    """An engine loop whose requests have tickets and whose clients may go away unplanned."""

    def __init__(self, scheduler: Scheduler, cost: Cost, observer: Observer) -> None:
        super().__init__(scheduler, cost, self._observed)
        self._told = LiveDiary(observer)
        self.diary = self._told

    def serve(self, ticket: Ticket) -> None:
        """A request arrives: not before the one sent last, nor where the loop has been."""
        self._told.tickets[len(self.requests)] = ticket
        ticket.request = self.send(ticket.arrival)

    def leave(self, request: Request, when: int) -> None:
        """The client of a request goes away then: not where the loop has been.

        It is noticed as a planned cancellation is, and at once where the loop has not taken the request in.
        """
        if request in self.to_come:
            self.to_come.remove(request)
            request.status = Status.ABORTED
            self._over(request, Ending.CANCELLED)
        elif not request.is_over:
            self.leaving.add(when, request.rank)

    def _observed(self, step: Step, ended: list[Request], scheduler: Scheduler) -> None:
        del step, ended
        self._told.observer.stepped(self._told.take_made(), scheduler.state)
