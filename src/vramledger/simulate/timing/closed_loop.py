"""A closed loop of equal requests: each is answered, and the next takes its place at once.

In the steady state of `C` requests, `B` of them decode while the others prefill or wait. Each prompt
lengthens the steps it is part of for everybody; that is what neighbours cost. A benchmark starts all `C`
at once, and the mean TTFT of a short one is mostly that opening burst.
"""

from math import inf
from typing import Final

from vramledger.frozen import frozen
from vramledger.simulate.timing.lengths import USUAL_SPREAD, Length, Recorded, spread_length
from vramledger.simulate.timing.step import Batch, Pricer, StepTime

_ROUNDS: Final = 14  # of the fixed point, halving the distance each time
_MOST_BUSY: Final = 0.98
_LEAST_CHUNK: Final = 16.0
_FULL_BURST: Final = 1.0


@frozen
class Load:
    """`concurrency` requests in flight per replica, of these mean lengths.

    Lengths lie within `spread` of their means (0: all alike), or are `recorded`.
    """

    input_tokens: float
    output_tokens: float
    concurrency: float
    requests: float = inf  # of the run, all of `concurrency` started together; inf: steady state
    spread: float = USUAL_SPREAD
    recorded: Recorded | None = None

    @property
    def in_step(self) -> bool:
        """Whether all have one length, so that those who start together end together."""
        return self.spread == 0 if self.recorded is None else self.recorded.alike

    def length(self, number: int) -> Length:
        """Of the request of that number."""
        if self.recorded is not None:
            return self.recorded.at(number)
        return spread_length(self.input_tokens, self.output_tokens, self.spread, number)

    @property
    def decode_context(self) -> float:
        """Tokens in the cache for a request that decodes, mean over all steps."""
        if self.recorded is not None:
            return self.recorded.decode_context
        return self.input_tokens + self.output_tokens / 2

    @property
    def whole(self) -> float:
        """Tokens of a request at its end, mean over those that run."""
        if self.recorded is not None:
            return self.recorded.whole
        return self.input_tokens + self.output_tokens

    @property
    def prompt_context(self) -> float:
        """Tokens before one of a prompt, mean over all such tokens."""
        return self.input_tokens / 2 if self.recorded is None else self.recorded.prompt_context


@frozen
class Waits:
    """Mean TTFT by its parts, seconds."""

    front: float  # client, HTTP, tokeniser
    prefill: float  # the own prompt's steps
    running_step: float  # steps already under way
    queue: float  # others' prompts that came first
    burst: float  # the opening burst's share
    room: float  # waiting for blocks of the cache

    @property
    def total(self) -> float:
        """Mean TTFT."""
        return self.front + self.prefill + self.running_step + self.queue + self.burst + self.room


@frozen
class Steady:
    """What such a load sees."""

    tpot: float
    waits: Waits
    decode_step: StepTime
    neighbours: float  # seconds of TPOT that others' prompts take
    running: float  # requests that the cache and the engine let run at once
    decoding: float


@frozen
class _Point:
    """One round of the fixed point."""

    decoding: float
    decode: float  # seconds of a step of decodes alone
    prompt: float  # extra seconds that one prompt costs everybody
    own: float  # seconds from the first to the last chunk of a prompt
    tpot: float
    busy: float  # share of a request's life that others' prompts take


def steady(pricer: Pricer, load: Load, room: float) -> Steady:
    """The steady state.

    Args:
        pricer: prices the steps.
        load: the loop.
        room: requests that can run at once; more wait.
    """
    running = max(1.0, min(load.concurrency, room))
    point = _settle(pricer, load, running)
    return Steady(
        tpot=point.tpot,
        waits=_waits(pricer, load, running, point),
        decode_step=pricer.step(_decodes(pricer, load, point.decoding)),
        neighbours=point.tpot - point.decode,
        running=running,
        decoding=point.decoding,
    )


def _decodes(pricer: Pricer, load: Load, decoding: float) -> Batch:
    stages = len(pricer.work.stages)
    return Batch(decoding / stages, load.decode_context)


def _settle(pricer: Pricer, load: Load, running: float) -> _Point:
    decoding = running
    for _ in range(_ROUNDS):
        point = _round(pricer, load, running, decoding)
        decoding = 0.5 * decoding + 0.5 * max(point.decoding, min(running, 1.0))
    return _round(pricer, load, running, decoding)


def _round(pricer: Pricer, load: Load, running: float, decoding: float) -> _Point:
    c, output = pricer.c, load.output_tokens
    alone = _decodes(pricer, load, decoding)
    decode = pricer.seconds(alone)
    chunk = _chunk(pricer, load, decoding)
    mixed = pricer.seconds(_with_prompts(alone, load, chunk))
    prompt = (mixed - decode) * load.input_tokens / chunk
    tpot = decode + decoding * prompt / output
    own = max(load.input_tokens / chunk, 1.0) * mixed
    busy = min(decoding * prompt / (output * tpot), _MOST_BUSY)
    life = output * tpot
    share = life / (life + own + c.queue * busy * prompt)
    return _Point(running * share, decode, prompt, own, tpot, busy)


def _chunk(pricer: Pricer, load: Load, decoding: float) -> float:
    """Prompt tokens of a step that has any: one prompt, more where they arrive faster than steps."""
    budget = float(pricer.work.budget)
    together = min(max(decoding / load.output_tokens, 1.0), max(budget / load.input_tokens, 1.0))
    least = min(load.input_tokens, _LEAST_CHUNK)
    return max(min(together * load.input_tokens, budget - decoding), least)


def _with_prompts(batch: Batch, load: Load, chunk: float) -> Batch:
    prompts = chunk / load.input_tokens
    return Batch(batch.decodes, batch.context, chunk, load.prompt_context, prompts)


def _waits(pricer: Pricer, load: Load, running: float, point: _Point) -> Waits:
    c = pricer.c
    front = c.front_ms + c.front_ms_per_1000_tokens * load.input_tokens / 1000
    life = load.output_tokens * point.tpot + point.own
    return Waits(
        front=(front + c.front_ms_per_request * load.concurrency) * 1e-3,
        prefill=point.own,
        running_step=c.steps_waited * point.decode,
        queue=c.queue * point.busy / (1 - point.busy) * point.prompt / 2,
        burst=_burst(pricer, load, running, point),
        room=(load.concurrency - running) / running * life,
    )


def _burst(pricer: Pricer, load: Load, running: float, point: _Point) -> float:
    """The first `running` prompts in full steps one after another: half of them before the mean one."""
    share = min(load.concurrency / load.requests, _FULL_BURST)
    if not share or running <= 1:
        return 0.0
    tokens = min(float(pricer.work.budget), running * load.input_tokens)
    half = _decodes(pricer, load, point.decoding / 2)
    each = pricer.seconds(_with_prompts(half, load, tokens)) * load.input_tokens / tokens
    return share * (running - 1) * each / 2
