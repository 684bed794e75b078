"""Short ways to make settings and requests for tests of the simulator."""

from collections.abc import Sequence
from typing import Any

from vramledger.simulate.loop import simulate
from vramledger.simulate.outcome import Outcome
from vramledger.simulate.request import Arrival, Request
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features, Step

MS = 1_000_000


def settings(**changed: Any) -> Settings:
    """A small engine: 64 usable blocks of 4 tokens, 32 tokens and 8 requests a step."""
    plain: dict[str, Any] = {
        "num_blocks": 65,
        "block_size": 4,
        "token_budget": 32,
        "max_num_seqs": 8,
        "max_model_len": 200,
        "prefix_caching": False,
    }
    return Settings(**(plain | changed))


def arrival(
    input_tokens: int = 8, output_tokens: int = 4, at_ms: float = 0, **more: Any
) -> Arrival:
    """A request, at a time in milliseconds."""
    return Arrival(round(at_ms * MS), input_tokens, output_tokens, **more)


def ten_ms(_features: Features) -> int:
    """Every step takes ten milliseconds."""
    return 10 * MS


def run(arrivals: Sequence[Arrival], engine: Settings | None = None, **more: Any) -> Outcome:
    """The requests on an engine whose steps take ten milliseconds."""
    return simulate(engine or settings(), arrivals, more.pop("cost", ten_ms), **more)


class Stepper:
    """A scheduler driven by hand, without time."""

    def __init__(self, engine: Settings, arrivals: Sequence[Arrival] = ()) -> None:
        self.scheduler = Scheduler(engine)
        self.requests: list[Request] = []
        for one in arrivals:
            self.add(one)

    def add(self, one: Arrival) -> Request:
        """A request that arrives now."""
        request = Request(len(self.requests), one)
        self.requests.append(request)
        self.scheduler.add(request)
        return request

    def step(self) -> Step:
        """One step, executed at once."""
        step = self.scheduler.schedule()
        self.scheduler.settle(step)
        return step

    def steps(self, count: int) -> list[dict[int, int]]:
        """Tokens by rank of the next steps."""
        return [tokens_of(self.step()) for _ in range(count)]

    @property
    def used(self) -> int:
        """Blocks held now."""
        return self.scheduler.state.cache.pool.used_blocks


def tokens_of(step: Step) -> dict[int, int]:
    """Scheduled tokens by rank."""
    return {request.rank: tokens for request, tokens in step.scheduled.items()}
