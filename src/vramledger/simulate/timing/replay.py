"""A closed loop played through: who prefills when, who waits for the cache, who is preempted.

The engine's rules at the grain that a mean needs: a token budget a step, running requests first, prompts
in chunks in their order, whole-prompt admission, the youngest evicted and computed again when the cache is
full. Steps in which nothing changes are priced together. The lengths of requests are spread evenly around their means,
as benchmarks draw them; without that spread all would end in the same step for ever.

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
from vramledger.simulate.timing.step import Batch, Pricer

_SPREAD: Final = (
    1 / 9
)  # lengths between 0.8 and 1.0 of a nominal one lie within a ninth of their mean
_GOLDEN: Final = 0.6180339887498949
_SILVER: Final = 0.4142135623730951
_STEADY_ROUNDS: Final = 5  # requests for each one in flight, where the run is endless
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
        total = self.concurrency * _STEADY_ROUNDS if self.endless else load.requests
        self.to_offer = max(round(total), self.concurrency)
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

    def play(self) -> Played:
        """The run from its first to its last request."""
        for place in range(self.concurrency):
            self._offer(0.0, (place + 0.5) / self.concurrency if self.endless else 1.0)
        while self.coming or self.waiting or self.prefilling or self.count:
            self._take_in()
            self._admit()
            if self.prefilling:
                self._mixed_step()
            elif self.count:
                self._decode_steps()
            elif self.coming:
                self.now = max(self.now, self.coming[0][0])
        done = max(self.done, 1)
        seconds = max(self.now, _EPSILON)
        return Played(
            self.ttft_sum / done,
            self.tpot_sum / done,
            self.running_time / seconds,
            self.waiting_time / seconds,
            self.preemptions,
            seconds,
            self.tokens,
        )

    def _offer(self, at: float, share: float = 1.0) -> None:
        """The next request, ready `delay` later; `share` of its output is left (staggered starts)."""
        if self.offered >= self.to_offer:
            return
        number = self.offered
        self.offered += 1
        prompt = _spread(self.load.input_tokens, number, _SILVER)
        output = max(1, round(_spread(self.load.output_tokens, number, _GOLDEN) * share))
        counted = not self.endless or number >= self.concurrency
        request = _Request(prompt, output, at, counted=counted)
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


def _spread(mean: float, number: int, step: float) -> int:
    """A length of an even spread around the mean, the same in every run."""
    place = (number * step + step) % 1.0
    return max(1, round(mean * (1 + _SPREAD * (2 * place - 1))))
