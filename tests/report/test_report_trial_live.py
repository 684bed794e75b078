"""A trial that runs, on one line."""

from vramledger.report.trial_live import length_line, live_line
from vramledger.trial.conduct.watch import Snapshot


def at(t_s: float, over_s: float | None) -> Snapshot:
    return Snapshot(
        t_s, 40, 3, {"ok": 36, "failed": 1}, {"reset": 1}, 5.5, 230.0, 0.03, 0.2, 0.014, 3.0, 2.0, over_s
    )  # fmt: skip


def test_the_line_tells_the_load_of_the_last_seconds_and_what_is_to_go() -> None:
    assert live_line(at(12.5, 130.0)) == (
        "12.5 s  1 min 58 s to go  40 sent  5.5/s  3 in flight  230 tokens/s  TTFT p50 30 ms, p95 200 ms  1 not ok  "
        "KV 1.4%  2 waiting"
    )


def test_a_load_without_an_end_has_nothing_to_go() -> None:
    assert "to go" not in live_line(at(12.5, None))
    assert "to go" not in live_line(at(12.5, 12.0))
    assert length_line(at(12.5, None)) is None


def test_the_length_of_a_load_is_told() -> None:
    assert length_line(at(5.0, 3507.0)) == "the last request is due in 58 min 22 s"
