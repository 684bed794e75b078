"""A closed loop played through: who prefills when, who waits for the cache, who is preempted.

The engine's rules at the grain that a mean needs: a token budget a step, running requests first, prompts
in chunks in their order, whole-prompt admission, the youngest evicted and computed again when the cache is
full. Steps in which nothing changes are priced together.

A run ends with its last request. The steady state has no end: its first rounds, in which the start still shows, are
not counted, and load is offered until the last counted request is answered. Those in flight begin at
different ages, except where all have one length: then they start together, and stay so.

`steady` of `closed_loop` gives the same figures in closed form where nothing waits; it is the plain
version that this one is held against.
"""

from collections import deque
from heapq import heapify, heappop, heappush
from math import ceil, inf
from typing import Final

from vramledger.frozen import frozen
from vramledger.simulate.timing.capacity import Capacity
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.counted import counted
from vramledger.simulate.timing.step import Batch, Pricer

_EPSILON: Final = 1e-12
_NOT_DECODING: Final = 0
_MOST_ENTRIES: Final = 4  # for each request that decodes, before those of the evicted are dropped


@frozen
class Played:
    """Means over the requests of a run."""

    ttft: float
    tpot: float
    running: float  # requests in the engine, mean over time
    waiting: float  # requests that wait for room, mean over time
    preemptions: int
    seconds: float
    tokens: int

    @property
    def tokens_per_s(self) -> float:
        """Output tokens a second of the whole run."""
        return self.tokens / self.seconds


@frozen
class _Sums:
    """Of a run until now; `running` and `waiting` are requests x seconds."""

    seconds: float
    running: float
    waiting: float
    preemptions: int
    tokens: int


class _Request:
    """One request; `prompt` grows by what was generated when it is preempted."""

    __slots__ = (
        "arrived", "computed", "counted", "ends", "first", "left", "output", "prompt", "turn",
    )  # fmt: skip

    def __init__(self, prompt: int, output: int, arrived: float, *, counted: bool) -> None:
        self.prompt = prompt
        self.output = output
        self.left = output
        self.arrived = arrived
        self.counted = counted
        self.computed = 0
        self.ends = -1  # the decode step that brings its last token
        self.turn = _NOT_DECODING
        self.first: float | None = None


class Replay:
    """Plays one run of a load."""

    def __init__(self, pricer: Pricer, load: Load, capacity: Capacity, delay: float) -> None:
        self.pricer, self.load, self.capacity, self.delay = pricer, load, capacity, delay
        self.endless = load.requests == inf
        self.concurrency = max(1, round(load.concurrency))
        means = counted(load, self.concurrency)
        self.first, self.to_count = means.first, means.count
        self.offered = 0
        self.now = 0.0
        self.steps = 0
        # by the step that ends them, then by their turn; entries of another turn are of the evicted
        self.decoding: list[tuple[int, int, _Request]] = []
        self.count = self.turns = 0  # requests that decode, and how often one began to
        self.context = 0.0  # tokens in the cache of all decoding requests
        self.prefilling: deque[_Request] = deque()
        self.held = 0.0  # tokens in the cache for the prompts under way
        self.admitted: dict[_Request, None] = {}  # in the order of admission
        self.waiting: deque[_Request] = deque()
        self.coming: list[tuple[float, int, _Request]] = []
        self.ttft_sum = self.tpot_sum = 0.0
        self.done = self.tokens = self.preemptions = 0
        self.running_time = self.waiting_time = 0.0
        self.since = self._sums()  # when the first counted request was sent

    def play(self) -> Played:
        """The run from its first to its last counted request."""
        staggered = self.endless and not self.load.in_step
        for place in range(self.concurrency):
            self._offer(0.0, (place + 0.5) / self.concurrency if staggered else 1.0)
        while self.done < self.to_count:
            self._take_in()
            self._admit()
            if self.prefilling:
                self._mixed_step()
            elif self.count:
                self._decode_steps()
            else:
                self.now = max(self.now, self.coming[0][0])
        done = max(self.done, 1)
        now, since = self._sums(), self.since
        seconds = max(now.seconds - since.seconds, _EPSILON)
        return Played(
            self.ttft_sum / done,
            self.tpot_sum / done,
            (now.running - since.running) / seconds,
            (now.waiting - since.waiting) / seconds,
            now.preemptions - since.preemptions,
            seconds,
            now.tokens - since.tokens,
        )

    def _sums(self) -> "_Sums":
        return _Sums(self.now, self.running_time, self.waiting_time, self.preemptions, self.tokens)

    def _offer(self, at: float, share: float = 1.0) -> None:
        """The next request, ready `delay` later; `share` of its output is left (staggered starts)."""
        number = self.offered
        if not self.endless and number >= self.to_count:
            return
        if number == self.first:
            self.since = self._sums()
        self.offered += 1
        length = self.load.length(number)
        output = max(1, round(length.output * share))
        counts = self.first <= number < self.first + self.to_count
        request = _Request(length.prompt, output, at, counted=counts)
        heappush(self.coming, (at + self.delay, number, request))

    def _take_in(self) -> None:
        while self.coming and self.coming[0][0] <= self.now + _EPSILON:
            self.waiting.append(heappop(self.coming)[2])

    def _admit(self) -> None:
        while self.waiting and len(self.admitted) < self.capacity.sequences:
            request = self.waiting[0]
            if self.admitted and self._used() + self._need(request.prompt) > self.capacity.total:
                return
            self.waiting.popleft()
            request.computed = 0
            self.held += request.prompt
            self.admitted[request] = None
            self.prefilling.append(request)

    def _need(self, tokens: float) -> float:
        return self.capacity.fixed + self.capacity.per_token * tokens

    def _used(self) -> float:
        tokens = self.context + self.held
        return self.capacity.fixed * len(self.admitted) + self.capacity.per_token * tokens

    def _mixed_step(self) -> None:
        """One step with the prompts' next chunks beside a token for every decoding request."""
        self._make_room(1)
        budget = max(self.pricer.work.budget - self.count, 1)
        taken: list[tuple[_Request, int]] = []
        pairs = 0.0
        for request in self.prefilling:
            chunk = min(request.prompt - request.computed, budget)
            if chunk <= 0:
                break
            taken.append((request, chunk))
            pairs += chunk * (request.computed + chunk / 2)
            budget -= chunk
        tokens = sum(chunk for _, chunk in taken)
        finished = [r for r, chunk in taken if r.computed + chunk >= r.prompt]
        context = self.context / self.count if self.count else 0.0
        batch = Batch(self.count, context, tokens, pairs / max(tokens, 1), len(finished))
        self._pass(self.pricer.seconds(batch), 1)
        for request, chunk in taken:
            request.computed += chunk
        self._finish_decodes()
        for request in finished:
            self.prefilling.popleft()
            self._first_token(request)

    def _decode_steps(self) -> None:
        """Steps of decodes alone, up to the next end, the next arrival or a full cache."""
        self._make_room(1)
        steps = max(self._next_end() - self.steps, 1)
        growth = self.count * self.capacity.per_token
        if growth * steps > self.capacity.total - self._used():
            steps = max(1, int((self.capacity.total - self._used()) / growth))
        stages = len(self.pricer.work.stages)
        mean = self.context / self.count
        each = self.pricer.seconds(Batch(self.count / stages, mean + (steps - 1) / 2))
        if self.coming:
            left = self.coming[0][0] - self.now
            fewer = max(1, ceil(left / each - 1e-9))
            if fewer < steps:
                steps = fewer
                each = self.pricer.seconds(Batch(self.count / stages, mean + (steps - 1) / 2))
        self._pass(each * steps, steps)
        self._finish_decodes()

    def _pass(self, seconds: float, steps: int) -> None:
        self.now += seconds
        self.running_time += seconds * len(self.admitted)
        self.waiting_time += seconds * len(self.waiting)
        self.steps += steps
        self.context += self.count * steps

    def _first_token(self, request: _Request) -> None:
        if request.first is None:
            request.first = self.now
        request.left -= 1
        self.held -= request.prompt
        self.context += request.prompt
        self.count += 1
        request.ends = self.steps + request.left
        self.turns += 1
        request.turn = self.turns
        heappush(self.decoding, (request.ends, request.turn, request))
        self._finish_decodes()

    def _finish_decodes(self) -> None:
        while self.decoding and self.decoding[0][0] <= self.steps:
            _, turn, request = heappop(self.decoding)
            if request.turn == turn:
                self._leave(request)

    def _leave(self, request: _Request) -> None:
        self.count -= 1
        self.context -= request.prompt + request.left
        del self.admitted[request]
        first = request.first if request.first is not None else self.now
        self.tokens += request.output
        if request.counted:
            self.done += 1
            self.ttft_sum += first - request.arrived
            self.tpot_sum += (self.now - first) / max(request.output - 1, 1)
        self._offer(self.now)

    def _make_room(self, steps: int) -> None:
        """Evict the youngest while the cache cannot take another token of each."""
        while len(self.admitted) > 1:
            growth = self.count * steps * self.capacity.per_token
            if self._used() + growth <= self.capacity.total:
                return
            self._evict(self.admitted.popitem()[0])

    def _evict(self, request: _Request) -> None:
        self.preemptions += 1
        if request.turn == _NOT_DECODING:
            self.prefilling.pop()  # prompts are under way in the order of admission
            self.held -= request.prompt
        else:
            left = request.ends - self.steps
            generated = request.left - left
            self.count -= 1
            self.context -= request.prompt + generated
            request.prompt += generated + 1
            request.left = left
            request.turn = _NOT_DECODING
        request.computed = 0
        self.waiting.appendleft(request)

    def _next_end(self) -> int:
        """The step that brings the next last token; entries of the evicted are dropped on the way."""
        if len(self.decoding) > _MOST_ENTRIES * (self.count + 1):
            self.decoding = [entry for entry in self.decoding if entry[2].turn == entry[1]]
            heapify(self.decoding)
        while self.decoding[0][2].turn != self.decoding[0][1]:
            heappop(self.decoding)
        return self.decoding[0][0]
