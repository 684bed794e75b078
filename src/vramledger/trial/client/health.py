"""How the client itself was: whether it was quick enough to be believed, by stated rules."""

import gc
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.trial.client.sketch import Sketch
from vramledger.trial.client.wakeup import wake_up

_TICK_NS: Final = 10_000_000
_WINDOW_NS: Final = 1_000_000_000
_SECOND: Final = 1e9
LATE_S: Final = 0.005
LATE_SHARE: Final = 0.1  # of the median time to the first token: less does not decide it
CPU_SHARE: Final = 0.9


@frozen
class Spread:
    """A distribution in three figures, in seconds; None where there was nothing."""

    p50: float | None
    p99: float | None
    max: float | None


@frozen
class Health:
    """One worker, from its first request to its last.

    `loop_lag_s` is how late a tick of 10 ms came. `late_dispatch_s` is from when a request was due to its last byte
    in the kernel, less the wait for the server to accept a connection; `unread_s` the longest time that bytes
    waited to be parsed. `cpu_share` is processor time of the process over time, in the worst window of a second;
    `busy_windows` is the share of windows above 0.9. `ttft_p50_s` is the median time to the first token, for
    comparison. `gc_s` are pauses of Python's own memory keeping. `no_sockets` counts requests for which this machine had
    no socket left. `bottleneck` is a sentence where a rule says that the client, not the server, decided the figures; None where none does.
    """

    seconds: float
    loop_lag_s: Spread
    late_dispatch_s: Spread
    unread_s: float
    cpu_s: float
    cpu_share: float
    busy_windows: float
    gc_pauses: int
    gc_s: float
    gc_longest_s: float
    most_sockets: int
    reopened: int
    ttft_p50_s: float | None = None
    bottleneck: str | None = None
    no_sockets: int = 0

    def to_json(self) -> dict[str, Any]:
        """The record as a JSON object."""
        found: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in ("loop_lag_s", "late_dispatch_s"):
            spread = found[name]
            found[name] = {"p50": spread.p50, "p99": spread.p99, "max": spread.max}
        return found

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Health":
        """What `to_json` made."""
        spreads = {name: Spread(**found[name]) for name in ("loop_lag_s", "late_dispatch_s")}
        return cls(**{**found, **spreads})


@frozen
class Rule:
    """When the client is the bottleneck, and how to say so."""

    broken: Callable[[Health], bool]
    says: Callable[[Health], str]


def _ms(seconds: float | None) -> str:
    return f"{(seconds or 0.0) * 1e3:.1f} ms"


RULES: Final = (
    Rule(
        lambda health: (
            (health.late_dispatch_s.p99 or 0.0)
            > max(LATE_S, LATE_SHARE * (health.ttft_p50_s or 0.0))
        ),
        lambda health: f"1 % of the requests left {_ms(health.late_dispatch_s.p99)} late or later",
    ),
    Rule(
        lambda health: (health.loop_lag_s.p99 or 0.0) > LATE_S,
        lambda health: f"its loop was {_ms(health.loop_lag_s.p99)} late or later 1 % of the time",
    ),
    Rule(
        lambda health: health.busy_windows > 0.01,
        lambda health: f"it used {health.cpu_share:.0%} of its core at worst",
    ),
    Rule(
        lambda health: health.no_sockets > 0,
        lambda health: f"it had no socket for {health.no_sockets:,} requests (see ulimit -n)",
    ),
)
_REMEDY: Final = "use more workers, or cores that nothing else uses"


def bottleneck(health: Health) -> str | None:
    """Why the client decided the figures, with the remedy; None where no rule says so."""
    found = [rule.says(health) for rule in RULES if rule.broken(health)]
    return f"The client was the bottleneck: {'; '.join(found)}; {_REMEDY}." if found else None


class Pulse:
    """Measures the loop it runs on: how late its ticks are, the processor's time, pauses of the garbage collector."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.lag = Sketch()
        self._timer = wake_up(loop, self._tick)
        self._next_ns = self._began_ns = self._window_ns = time.monotonic_ns()
        self._cpu_s = self._window_cpu_s = time.process_time()
        self._began_cpu_s = self._cpu_s
        self._shares: list[float] = []
        self._gc_began_ns = 0
        self.gc_pauses = Sketch()

    def start(self) -> None:
        """Begin; what was allocated before is left out of the garbage collector's rounds."""
        gc.collect(1)  # of the old ones little is garbage, and to look at them all takes long
        gc.freeze()
        gc.callbacks.append(self._collecting)
        self._next_ns = self._began_ns = self._window_ns = time.monotonic_ns()
        self._began_cpu_s = self._window_cpu_s = time.process_time()
        self._timer.at(self._next_ns)

    def stop(self) -> None:
        """End."""
        self._timer.close()
        if self._collecting in gc.callbacks:
            gc.callbacks.remove(self._collecting)
            gc.unfreeze()

    def health(
        self,
        late: Sketch,
        ttft: Sketch,
        unread_ns: int,
        most_sockets: int,
        reopened: int,
        no_sockets: int = 0,
    ) -> Health:
        """What was measured so far, with what others measured."""
        seconds = (time.monotonic_ns() - self._began_ns) / _SECOND
        cpu_s = time.process_time() - self._began_cpu_s
        shares = self._shares or [cpu_s / max(seconds, 1e-9)]
        found = Health(
            seconds=seconds,
            loop_lag_s=_spread(self.lag),
            late_dispatch_s=_spread(late),
            unread_s=unread_ns / _SECOND,
            cpu_s=cpu_s,
            cpu_share=max(shares),
            busy_windows=sum(share > CPU_SHARE for share in shares) / len(shares),
            gc_pauses=self.gc_pauses.count,
            gc_s=self.gc_pauses.sum_s,
            gc_longest_s=self.gc_pauses.max_s,
            most_sockets=most_sockets,
            reopened=reopened,
            ttft_p50_s=ttft.percentile(0.5),
            no_sockets=no_sockets,
        )
        said = bottleneck(found)
        return Health(**{each.name: getattr(found, each.name) for each in fields(found)} | {"bottleneck": said})  # fmt: skip

    def _tick(self) -> None:
        now = time.monotonic_ns()
        while self._next_ns <= now:  # ticks that were missed altogether were late too
            self.lag.add((now - self._next_ns) / _SECOND)
            self._next_ns += _TICK_NS
        if now - self._window_ns >= _WINDOW_NS:
            cpu_s = time.process_time()
            self._shares.append((cpu_s - self._window_cpu_s) / ((now - self._window_ns) / _SECOND))
            self._window_ns, self._window_cpu_s = now, cpu_s
        self._timer.at(self._next_ns)

    def _collecting(self, phase: str, _info: Mapping[str, int]) -> None:
        if phase == "start":
            self._gc_began_ns = time.monotonic_ns()
        else:
            self.gc_pauses.add((time.monotonic_ns() - self._gc_began_ns) / _SECOND)


def _spread(sketch: Sketch) -> Spread:
    worst = sketch.max_s if sketch.count else None
    return Spread(sketch.percentile(0.5), sketch.percentile(0.99), worst)
