"""What somebody who looks on is shown while a trial runs."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from vramledger.frozen import frozen
from vramledger.trial.client.sketch import Sketch
from vramledger.trial.conduct.crew import Worker
from vramledger.trial.sampling import Sampler
from vramledger.trial.sampling.target import Target as Page

_RECENT_S: Final = 5.0
SERVER: Final = "target-0"


@frozen
class Snapshot:
    """The state of a load at `t_s` of the run; rates and TTFT are of the last seconds, None where nothing happened.

    `over_s` is when the last request is due; None where only its own end ends the load.
    """

    t_s: float
    sent: int
    in_flight: int
    ended: Mapping[str, int]
    failures: Mapping[str, int]
    sent_per_s: float
    tokens_per_s: float
    ttft_p50_s: float | None
    ttft_p95_s: float | None
    kv_usage: float | None
    running: float | None
    waiting: float | None
    over_s: float | None = None

    @property
    def to_go_s(self) -> float | None:
        """Seconds until the last request is due, 0 where it was."""
        return None if self.over_s is None else max(self.over_s - self.t_s, 0.0)


class Watch(Protocol):
    """Looks on."""

    def phase(self, said: str) -> None:
        """What is done now, in a few words."""

    def show(self, snapshot: Snapshot) -> None:
        """The load at a moment."""


class Blind:
    """Nobody looks on."""

    def phase(self, said: str) -> None:
        """Nothing."""

    def show(self, snapshot: Snapshot) -> None:
        """Nothing."""


@frozen
class _Moment:
    t_s: float
    sent: int
    tokens: int


class Recent:
    """Adds up what workers report, and remembers the last seconds of it."""

    def __init__(self) -> None:
        self._moments: deque[_Moment] = deque()
        self._ttft: deque[tuple[float, Sketch]] = deque()

    def add(self, t_s: float, report: Mapping[str, Any]) -> None:
        """A report of one worker."""
        if report["event"] == "progress":
            self._ttft.append((t_s, Sketch.from_json(report["ttft_s"])))

    def snapshot(self, t_s: float, workers: Sequence[Worker], sampler: Sampler) -> Snapshot:
        """What is known now."""
        lines = [worker.ended or worker.progress for worker in workers]
        total = {
            name: sum(line.get(name, 0) for line in lines)
            for name in ("sent", "in_flight", "tokens")
        }
        first = self._moved_to(_Moment(t_s, total["sent"], total["tokens"]))
        span = max(t_s - first.t_s, 1e-3)
        ttft = self._recent_ttft(t_s)
        level = sampler.level(SERVER)
        figures = level.figures if level is not None else {}
        return Snapshot(
            t_s=t_s,
            sent=total["sent"],
            in_flight=total["in_flight"],
            ended=_added(lines, "ended"),
            failures=_added(lines, "failures"),
            sent_per_s=(total["sent"] - first.sent) / span,
            tokens_per_s=(total["tokens"] - first.tokens) / span,
            ttft_p50_s=ttft.percentile(0.5),
            ttft_p95_s=ttft.percentile(0.95),
            kv_usage=figures.get("kv_usage"),
            running=figures.get("running"),
            waiting=figures.get("waiting"),
        )

    def _moved_to(self, now: _Moment) -> _Moment:
        """Remember this moment; the earliest of the last seconds."""
        self._moments.append(now)
        while self._moments[0].t_s < now.t_s - _RECENT_S:
            self._moments.popleft()
        return self._moments[0]

    def _recent_ttft(self, t_s: float) -> Sketch:
        while self._ttft and self._ttft[0][0] < t_s - _RECENT_S:
            self._ttft.popleft()
        merged = Sketch()
        for _, sketch in self._ttft:
            merged.merge(sketch)
        return merged


def pages_of(url: str | None, headers: Mapping[str, str]) -> tuple[Page, ...]:
    """The metrics pages of a trial: one, or none."""
    return () if url is None else (Page(SERVER, url, headers),)


def _added(lines: Sequence[Mapping[str, Any]], name: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for line in lines:
        total.update(line.get(name, {}))
    return dict(total)
