"""A server process from its start to its end: what a restart begins anew."""

import asyncio
import time
from collections.abc import Callable

from vramledger.rehearse.live.clock import starting_now
from vramledger.rehearse.live.driver import Driver
from vramledger.rehearse.live.lag import Lag
from vramledger.rehearse.live.live_loop import LiveLoop
from vramledger.rehearse.metrics.cache_config import cache_config
from vramledger.rehearse.metrics.meter import Meter
from vramledger.rehearse.metrics.page import Identity, Page
from vramledger.rehearse.subject import Subject
from vramledger.simulate.scheduler import Scheduler


class Life:
    """An engine at work and the page about it, both from nothing."""

    def __init__(
        self,
        subject: Subject,
        loop: asyncio.AbstractEventLoop,
        *,
        seed: int,
        speed: float,
        say: Callable[[str], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self.clock = starting_now(speed)
        self.page = Page(_identity(subject), time.time())
        self.lag = Lag(say)
        meter = Meter(self.page, self.clock, caches=subject.settings.prefix_caching)
        engine = LiveLoop(Scheduler(subject.settings, seed=seed), subject.cost, meter)
        self._cache = engine.scheduler.state.cache
        self.driver = Driver(engine, self.clock, loop, self.lag.late, failed)

    def metrics(self) -> bytes:
        """The metrics page as it is now."""
        self.page.late(self.lag.seconds)
        return self.page.text()

    def forget_prefixes(self) -> bool:
        """Empty the prefix cache, which is possible while nobody holds a block; whether it was done."""
        return self._cache.pool.forget_all()

    def end(self) -> None:
        """The process is gone."""
        self.driver.close()


def _identity(subject: Subject) -> Identity:
    major, minor = (int(part) for part in subject.deployment.rules.family.split("."))
    version = (major, minor)
    return Identity(
        subject.model_name,
        version,
        subject.settings.max_model_len,
        cache_config(subject, version),
        speculates=subject.settings.speculation is not None,
    )
