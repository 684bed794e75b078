"""Times without a metrics page, by the journal."""

from vramledger.diagnose.seen.silence import silences_of
from vramledger.record.journal import Entry


def began(t_s: float, error_class: str, source: str = "target-0") -> Entry:
    return Entry(
        t_s, "gap_began", {"source": source, "error_class": error_class, "why": error_class}
    )


def ended(t_s: float, error_class: str, *, with_the_run: bool = False) -> Entry:
    details = {"source": "target-0", "error_class": error_class, "with_the_run": with_the_run}
    return Entry(t_s, "gap_ended", details)


def test_reasons_that_change_in_one_silence_make_no_second_one() -> None:
    journal = [began(3.0, "reset"), ended(4.0, "reset"), began(4.0, "connect_refused"), ended(9.0, "connect_refused", with_the_run=True)]  # fmt: skip
    (only,) = silences_of(journal)
    assert (only.from_s, only.to_s, only.why) == (3.0, 9.0, "connect_refused")
    assert only.gone
    assert only.to_the_end


def test_two_silences_with_pages_between_stay_two() -> None:
    journal = [began(3.0, "http_503"), ended(4.0, "http_503"), began(6.0, "timeout"), ended(7.0, "timeout")]  # fmt: skip
    assert [(each.from_s, each.gone, each.to_the_end) for each in silences_of(journal)] == [(3.0, False, False), (6.0, False, False)]  # fmt: skip


def test_pages_that_are_late_and_other_sources_are_no_silence() -> None:
    assert silences_of([began(3.0, "slow"), ended(4.0, "slow"), began(1.0, "reset", "gpu")]) == ()


def test_a_silence_that_nobody_ended_lasts_to_the_last_line() -> None:
    (only,) = silences_of([began(3.0, "reset"), Entry(8.0, "phase", {"name": "closing"})])
    assert (only.to_s, only.to_the_end) == (8.0, True)
