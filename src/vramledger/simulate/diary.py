"""When what happened to each request and in each step, written down as the loop goes."""

from vramledger.simulate.outcome import Ending, Pause, RequestOutcome, StepRow
from vramledger.simulate.pipeline import Passage
from vramledger.simulate.request import Request
from vramledger.simulate.state import State
from vramledger.simulate.step import Features, Step


class _Page:
    """One request's times and counts."""

    __slots__ = (
        "block_ns",
        "ending",
        "first_ns",
        "first_step",
        "hit",
        "last_ns",
        "last_step",
        "lost",
        "queued_ns",
        "recomputed",
        "scheduled_ns",
        "scheduled_step",
    )

    def __init__(self) -> None:
        self.ending: Ending | None = None
        self.queued_ns: int | None = None
        self.scheduled_ns: int | None = None
        self.scheduled_step: int | None = None
        self.first_ns: int | None = None
        self.first_step: int | None = None
        self.last_ns: int | None = None
        self.last_step: int | None = None
        self.hit = self.lost = self.recomputed = self.block_ns = 0


class Diary:
    """A page for each request, by rank, a row for each step, and the pauses."""

    def __init__(self) -> None:
        self._requests: list[Request] = []
        self._pages: list[_Page] = []
        self.steps: list[StepRow] = []
        self.pauses: list[Pause] = []
        self._sent_last: int | None = None
        self._held_until = 0  # blocks held are counted up to then
        self._before: dict[int, int | None] = {}  # of steps not back yet, the one sent before

    def open(self, request: Request) -> None:
        """A page for the next request."""
        self._requests.append(request)
        self._pages.append(_Page())

    def queued(self, request: Request, now: int) -> None:
        """The loop took a request in."""
        self._pages[request.rank].queued_ns = now

    def preempted(self, request: Request) -> None:
        """A request lost what it had computed."""
        self._pages[request.rank].lost = request.lost

    def sent(self, step: Step, passage: Passage, features: Features, state: State) -> None:
        """A step went to the device; those that run hold their blocks while any step is in it."""
        self.steps.append(_step_row(step, passage, features, state))
        start, lasts = passage.start_ns, passage.end_ns - max(passage.start_ns, self._held_until)
        self._held_until = passage.end_ns
        self._before[step.number], self._sent_last = self._sent_last, step.number
        for rank, hit in step.hit_tokens.items():
            page = self._pages[rank]
            if page.scheduled_ns is None:
                page.scheduled_ns, page.scheduled_step, page.hit = start, step.number, hit
            page.recomputed += max(0, page.lost - hit)
            page.lost = 0
        if lasts:
            for request in state.holders:
                self._pages[request.rank].block_ns += state.cache.holding(request) * lasts

    def token(self, request: Request, step: Step, now: int) -> None:
        """A step brought a request at least one token."""
        page = self._pages[request.rank]
        if page.first_ns is None:
            page.first_ns, page.first_step = now, step.number
        elif page.last_step is not None and page.last_step != self._before[step.number]:
            self.pauses.append(Pause(request.rank, page.last_step, step.number))
        page.last_ns, page.last_step = now, step.number

    def back(self, step: Step) -> None:
        """A step is back, and all its tokens are written down."""
        del self._before[step.number]

    def end(self, request: Request, ending: Ending, *, unless_ended: bool = False) -> None:
        """A request ended; a second ending is an error unless it is asked for that none is there."""
        page = self._pages[request.rank]
        if page.ending is None:
            page.ending = ending
        elif not unless_ended:
            raise AssertionError(f"Request {request.rank} ended twice.")

    def rows(self) -> tuple[RequestOutcome, ...]:
        """All pages in the order of arrival."""
        pairs = zip(self._requests, self._pages, strict=True)
        return tuple(_row(request, page) for request, page in pairs)


def _row(request: Request, page: _Page) -> RequestOutcome:
    return RequestOutcome(
        rank=request.rank,
        ending=page.ending or Ending.INCOMPLETE,
        arrival_ns=request.arrival.arrival_ns,
        queued_ns=page.queued_ns,
        scheduled_ns=page.scheduled_ns,
        scheduled_step=page.scheduled_step,
        first_token_ns=page.first_ns,
        first_token_step=page.first_step,
        last_token_ns=page.last_ns,
        last_token_step=page.last_step,
        input_tokens=request.prompt,
        output_tokens=request.generated,
        hit_tokens=page.hit,
        preemptions=request.preemptions,
        recomputed_tokens=page.recomputed,
        block_ns=page.block_ns,
    )


def _step_row(step: Step, passage: Passage, features: Features, state: State) -> StepRow:
    return StepRow(
        step.number,
        passage.last_ns,
        passage.end_ns,
        features,
        len(state.running),
        len(state.waiting) + len(state.fetched),
        state.cache.pool.used_blocks,
        len(step.preempted),
    )
