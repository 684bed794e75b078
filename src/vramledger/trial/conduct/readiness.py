"""Whether a server is ready and warm, and what memory it takes on the way there."""

import time
from collections.abc import Callable
from itertools import count, islice
from typing import Any, Final, Protocol

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.record.samples import GpuSample
from vramledger.trial.client.single import fetch_all
from vramledger.trial.conduct.interrupts import ended_as_by_ctrl_c
from vramledger.trial.conduct.readiness_told import Readiness, Stage
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.prompts.body import BodyMaker, BodyStyle
from vramledger.trial.prompts.learning import common_words
from vramledger.trial.sampling import sources_for
from vramledger.trial.sampling.source import Clock, Missed, Source
from vramledger.trial.server import ServerFacts, ask_server
from vramledger.trial.server.asking import Asker, Refused, base_of
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Target, key_of, route_to

_POLL_S: Final = 0.5
_A_ROUND: Final = 4
_WORDS: Final = 200  # of a prompt, about as many tokens
_TOKENS: Final = 32  # of an answer
_QUICKER: Final = 0.9
_REST_S: Final = 2.0
_REFUSALS: Final = ("http_401", "http_403")


@frozen
class ReadinessAsked:
    """Which server, and how long it may take. `gpu_metrics` is where GPUs of another machine are told."""

    url: str
    within_s: float
    api: str
    model: str | None = None
    key_env: str | None = None
    key_file: str | None = None
    gpu_metrics: str | None = None


class Diary(Protocol):
    """Where what is seen on the way is written: a run that is being recorded."""

    def append(self, row: RequestRecord | GpuSample) -> None:
        """Keep a row."""

    def note(self, t_s: float, event: str, **details: Any) -> None:
        """Keep a line of the journal."""


class _Gate:
    """One look at a server, from not there to warm."""

    def __init__(
        self, asked: ReadinessAsked, phase: Callable[[str], None], zero_ns: int, diary: Diary | None
    ) -> None:
        self._asked, self._phase, self._diary = asked, phase, diary
        self._base = base_of(asked.url)
        route_to(Target(self._base))
        self._key = key_of(Target("", key_env=asked.key_env, key_file=asked.key_file))
        sources = sources_for((), server=self._base, gpu_metrics=asked.gpu_metrics)
        self._gpu: Source | None = next((s for s in sources.sources if s.name == "gpu"), None)
        self.unseen = sources.unseen
        self._clock = Clock(zero_ns)
        self._numbers = count(time.time_ns() // 1_000_000)  # so that no prompt was sent before
        self.stages: list[Stage] = []
        self.round_s: list[float] = []
        self.first_s: float | None = None
        self.facts: ServerFacts | None = None
        self._failure = ""  # class of the last request that was not answered

    @property
    def now_s(self) -> float:
        return self._clock.now_s()

    def pass_through(self) -> str:
        """Why it is not ready; nothing when it is."""
        if self._answers():
            self._pass(Stage("before load", self.now_s, None, "the server was up already"))
        else:
            self._mark("before load")
            self._phase("waiting for the server")
            if not self._until(self._answers):
                return "the server does not list its models"
        self.facts = ask_server(self._asked.url, self._key, closely=False)
        self._mark("after load")
        self._phase("first request")
        if not self._until(self._first):
            return f"no request is answered ({self._failure})"
        self._mark("after the first request")
        self._phase("warming up")
        if not self._until(self._steady):
            return "requests are not answered at a steady pace yet"
        time.sleep(min(_REST_S, max(self._asked.within_s - self.now_s, 0.0)))
        self._mark("at rest")
        return ""

    def close(self) -> None:
        """Let go of the GPUs."""
        if self._gpu is not None:
            self._gpu.close()

    def _until(self, holds: Callable[[], bool]) -> bool:
        """Ask until it holds or time is up."""
        while not holds():
            if self.now_s > self._asked.within_s:
                return False
            time.sleep(_POLL_S)
        return True

    def _answers(self) -> bool:
        found = Asker(self._base, self._key).page("/v1/models")
        if isinstance(found, Refused) and found.error_class in _REFUSALS:
            raise BadInput(
                f"The server does not accept the key ({found.error_class[-3:]}); name the variable or the file that holds "
                "the right one."
            )
        return not isinstance(found, Refused)

    def _first(self) -> bool:
        times = self._times(1)
        self.first_s = times[0] if times else None
        return bool(times)

    def _steady(self) -> bool:
        times = self._times(_A_ROUND)
        if len(times) < _A_ROUND:
            return False
        self.round_s.append(sum(times) / len(times))
        return len(self.round_s) > 1 and self.round_s[-1] >= _QUICKER * self.round_s[-2]

    def _times(self, requests: int) -> list[float]:
        """Seconds of the requests of a round that were answered."""
        left = max(self._asked.within_s - self.now_s, 1.0)
        target = Target(self._base, self._style.path, self._asked.key_env, self._asked.key_file)
        planned = [self._planned() for _ in range(requests)]
        limits = Limits(request_s=left)
        found = fetch_all(target, planned, requests, self._clock.zero_ns, limits, ended=self._keep)
        failures = [
            each.error_class or str(each.outcome)
            for each in found
            if each.outcome is not Outcome.OK
        ]
        self._failure = failures[-1] if failures else ""
        return [_seconds(each) for each in found if each.outcome is Outcome.OK]

    @property
    def _style(self) -> BodyStyle:
        model = self._asked.model or (self.facts.model if self.facts else None)
        if model is None:
            raise BadInput("The server lists no model; name the one to ask for with --model NAME.")
        return BodyStyle(self._asked.api, model)

    def _planned(self) -> PlannedRequest:
        number = next(self._numbers)
        text = " ".join((str(number), *islice(common_words(), _WORDS))).encode()
        body = BodyMaker(self._style).with_text(text, _TOKENS)
        return PlannedRequest(number, None, None, body, None, _TOKENS, exact=False, warm_up=True)

    def _mark(self, name: str) -> None:
        t_s = self.now_s
        if self._gpu is None:
            self._pass(Stage(name, t_s, None, "no GPU is read"))
            return
        try:
            taken = self._gpu.take(self._clock).rows
        except Missed as missed:
            self._pass(Stage(name, t_s, None, missed.why))
            return
        rows = [row for row in taken if isinstance(row, GpuSample)]
        for row in rows:
            self._keep(row)
        used = {row.gpu_uuid: row.used_bytes for row in rows if row.used_bytes is not None}
        self._pass(Stage(name, t_s, used))

    def _keep(self, row: RequestRecord | GpuSample) -> None:
        if self._diary is not None:
            self._diary.append(row)

    def _pass(self, stage: Stage) -> None:
        self.stages.append(stage)
        if self._diary is not None:
            told = {"used_bytes": stage.used_bytes, "why_not": stage.why_not or None}
            self._diary.note(stage.t_s, "stage", name=stage.name, **told)


@ended_as_by_ctrl_c()
def await_ready(
    asked: ReadinessAsked,
    phase: Callable[[str], None],
    zero_ns: int | None = None,
    diary: Diary | None = None,
) -> Readiness:
    """Wait until a server is ready and warm, or until time is up.

    Times count from `zero_ns`, by default from now; what is seen goes to `diary`.

    Raises:
        BadInput: no address, it does not accept the key, or the diary cannot be written.
    """
    gate = _Gate(asked, phase, time.monotonic_ns() if zero_ns is None else zero_ns, diary)
    try:
        why = gate.pass_through()
    finally:
        gate.close()
    return Readiness(
        ready=not why,
        waited_s=gate.now_s,
        stages=tuple(gate.stages),
        first_s=gate.first_s,
        round_s=tuple(gate.round_s),
        facts=gate.facts,
        why=why,
        unseen=gate.unseen,
    )


def _seconds(record: RequestRecord) -> float:
    return (record.done_s or 0.0) - record.due_s
