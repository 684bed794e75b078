"""The sampler: a steady pace, each source for itself, gaps as gaps."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from metrics_samples import VLLM, Kept, served
from recorded_runs import described
from vramledger.errors import BadInput
from vramledger.record.document import Origin
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.run import read_run
from vramledger.record.samples import MetricKind, Sample
from vramledger.record.soundness import check_sound
from vramledger.record.tables import Row
from vramledger.trial.sampling.history import read_histories
from vramledger.trial.sampling.sampler import Sampler
from vramledger.trial.sampling.server_page import ServerPage
from vramledger.trial.sampling.source import Clock, Event, Missed, Taken
from vramledger.trial.sampling.target import Target


class Scripted:
    """A source that does what it is told, one act after the other, and then repeats the last."""

    every_s: float | None = None

    def __init__(self, name: str, *acts: Callable[[], None]) -> None:
        self.name, self.acts, self.taken, self.closed = name, acts, 0, False

    def take(self, clock: Clock) -> Taken:
        t_s = clock.now_s()
        act = self.acts[min(self.taken, len(self.acts) - 1)]
        self.taken += 1
        act()
        row = Sample(t_s, self.name, "x", MetricKind.GAUGE, float(self.taken))
        return Taken((row,), levels={"x": float(self.taken)})

    def close(self) -> None:
        self.closed = True


def well() -> None:
    pass


def refuse() -> None:
    raise Missed("connect_refused", "nothing listens there")


def forbid() -> None:
    raise Missed("http_403", "it answers 403")


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def events(kept: Kept) -> list[tuple[str, str]]:
    return [(name, details["error_class"]) for _, name, details in kept.notes]


def without_slowness(kept: Kept) -> Kept:
    """The machine that tests run on may be slow."""
    notes = [note for note in kept.notes if note[2].get("error_class") != "slow"]
    return Kept(kept.rows, notes)


def test_sources_are_asked_at_multiples_of_the_interval_on_the_runs_clock() -> None:
    kept, source = Kept(), Scripted("a", well)
    zero_ns = time.monotonic_ns() - 7 * 10**9
    with Sampler([source], kept, zero_ns, interval_s=0.1):
        until(lambda: source.taken >= 12)
    moments = [row.t_s for row in kept.rows][:-1]  # the last one is taken at the end
    assert all(7.0 <= t_s < 100 for t_s in moments)
    multiples = [int(t_s // 0.1) for t_s in moments]
    assert multiples == sorted(set(multiples))  # none twice
    assert min(t_s % 0.1 for t_s in moments) < 0.02  # a busy machine is late now and then
    assert source.closed


def test_a_slow_source_holds_up_no_other() -> None:
    kept, answered = Kept(), threading.Event()
    slow, quick = Scripted("slow", lambda: _wait(answered)), Scripted("quick", well)
    with Sampler([slow, quick], kept, time.monotonic_ns(), interval_s=0.02):
        until(lambda: slow.taken == 1)
        before = quick.taken
        until(lambda: quick.taken >= before + 8)
        assert slow.taken == 1
        answered.set()
        until(lambda: slow.taken >= 2)
    told = [(name, note["error_class"]) for _, name, note in kept.notes if note["source"] == "slow"]
    assert told[0] == ("gap_began", "slow")


def _wait(event: threading.Event) -> None:
    assert event.wait(60)


def test_a_gap_is_told_when_it_begins_and_when_it_ends_and_has_no_rows() -> None:
    kept = Kept()
    source = Scripted("a", well, refuse, refuse, forbid, well)
    with Sampler([source], kept, time.monotonic_ns(), interval_s=0.02):
        until(lambda: source.taken >= 6)
    kept = without_slowness(kept)
    assert events(kept) == [
        ("gap_began", "connect_refused"),
        ("gap_ended", "connect_refused"),
        ("gap_began", "http_403"),
        ("gap_ended", "http_403"),
    ]
    began, ended = kept.notes[0], kept.notes[1]
    assert began[2]["source"] == "a"
    assert began[2]["why"] == "nothing listens there"
    assert ended[2]["began_s"] == began[0] < ended[0]
    inside = [row for row in kept.rows if began[0] <= row.t_s < kept.notes[-1][0]]
    assert inside == []


def test_a_gap_that_lasts_to_the_end_says_so() -> None:
    kept, source = Kept(), Scripted("a", refuse)
    with Sampler([source], kept, time.monotonic_ns(), interval_s=0.02):
        until(lambda: source.taken >= 2)
    assert [(name, details.get("with_the_run")) for _, name, details in kept.notes] == [
        ("gap_began", None),
        ("gap_ended", True),
    ]


def test_a_source_that_fails_as_nobody_foresaw_is_a_gap_and_goes_on() -> None:
    def fails() -> None:
        raise ZeroDivisionError

    kept, source = Kept(), Scripted("a", fails, fails, well)
    with Sampler([source], kept, time.monotonic_ns(), 0.02) as sampler:
        until(lambda: source.taken > 4)
        sampler.check()
    assert events(without_slowness(kept)) == [("gap_began", "defect"), ("gap_ended", "defect")]
    assert (
        kept.notes[0][2]["why"] == "reading it failed on a defect of vramledger (ZeroDivisionError)"
    )
    assert source.closed


def test_everything_is_asked_once_more_at_the_end() -> None:
    kept, source = Kept(), Scripted("a", well)
    sampler = Sampler([source], kept, time.monotonic_ns(), interval_s=60)
    sampler.start()
    sampler.stop()
    sampler.stop()
    assert source.taken == 1
    level = sampler.level("a")
    assert level is not None
    assert level.figures == {"x": 1.0}
    assert sampler.level("b") is None


def test_a_source_may_have_an_interval_of_its_own() -> None:
    kept, source, beside = Kept(), Scripted("a", well), Scripted("b", well)
    source.every_s = 300.0
    with Sampler([source, beside], kept, time.monotonic_ns(), interval_s=0.01):
        until(lambda: beside.taken >= 8)
        assert source.taken == 0
    assert source.taken == 1


def test_what_a_source_notices_stands_in_the_journal() -> None:
    class Noticing(Scripted):
        def take(self, clock: Clock) -> Taken:
            super().take(clock)
            return Taken((), (Event("server_restarted", {"target": "a"}),))

    kept, source = Kept(), Noticing("a", well)
    with Sampler([source], kept, time.monotonic_ns(), interval_s=60):
        pass
    assert [(name, details) for _, name, details in kept.notes] == [
        ("server_restarted", {"target": "a"})
    ]


def test_what_cannot_be_recorded_is_heard_of() -> None:
    class Full(Kept):
        def append(self, row: Row) -> None:
            raise BadInput(f"The disk is full at {row}.")

    sampler = Sampler([Scripted("a", well)], Full(), time.monotonic_ns(), interval_s=0.01)
    sampler.start()
    with pytest.raises(BadInput, match="The disk is full"):
        sampler.stop()


def test_a_server_that_is_killed_and_comes_back_is_a_gap_and_a_restart_in_the_record(
    tmp_path: Path,
) -> None:
    again = VLLM.replace("1.7e+09\n#", "1.8e+09\n#").replace(" 1000.0", " 40.0")
    with served({"/metrics": VLLM}) as server:
        page = ServerPage(Target("target-0", f"{server.url}/metrics"))
        run = RecordedRun.start(tmp_path / "run", described(Origin.MEASURED))
        with run, Sampler([page], run, time.monotonic_ns(), interval_s=0.05) as sampler:
            until(lambda: len(server.asked) >= 4)
            server.statuses = {"/metrics": 503}
            until(lambda: len(server.asked) >= 8)
            server.pages["/metrics"], server.statuses = again, {}
            until(lambda: len(server.asked) >= 12)
            sampler.check()
    closed = read_run(tmp_path / "run")
    check_sound(closed)
    entries = [e for e in closed.journal().entries if e.details.get("error_class") != "slow"]
    told = [(entry.event, entry.details.get("error_class")) for entry in entries]
    assert told == [
        ("gap_began", "http_503"),
        ("gap_ended", "http_503"),
        ("server_restarted", None),
    ]
    (tokens,) = read_histories(closed, "generation_tokens", "target-0")
    began, ended = (entry.t_s for entry in entries[:2])
    assert not [t_s for t_s in tokens.t_s if began <= t_s < ended]
    assert {float(value) for value in tokens.values} == {1000.0, 40.0}
