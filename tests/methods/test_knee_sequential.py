"""The sequential test of a level's verdict, against the walk that it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.methods.knee.sequential import LEAD, MOST, verdict_of, wrong_at_most
from vramledger.methods.subject import Verdict

HELD, MUCH, LITTLE = Verdict.HOLDS, Verdict.TOO_MUCH, Verdict.TOO_LITTLE


def wrong(share: float) -> float:
    """The probability that the test says holds where `share` of the draws do, by every path."""
    open_paths: dict[tuple[Verdict, ...], float] = {(): 1.0}
    found = 0.0
    while open_paths:
        grown: dict[tuple[Verdict, ...], float] = {}
        for plays, weight in open_paths.items():
            for verdict, part in ((HELD, share), (MUCH, 1 - share)):
                path = (*plays, verdict)
                said = verdict_of(path, repeats=True)
                if said is None:
                    grown[path] = weight * part
                elif said is HELD:
                    found += weight * part
        open_paths = grown
    return found


@pytest.mark.parametrize("share", [0.45, 0.3, 0.2, 0.1, 0.01])
def test_a_verdict_is_wrong_no_more_often_than_stated(share: float) -> None:
    assert 0.3 * wrong_at_most(share) < wrong(share) <= wrong_at_most(share)


def test_a_level_at_which_one_draw_of_five_holds_is_rarely_misjudged() -> None:
    assert wrong_at_most(0.2) == pytest.approx(1 / 65)


def test_a_level_without_draws_needs_one_play() -> None:
    assert verdict_of([], repeats=False) is None
    assert verdict_of([MUCH], repeats=False) is MUCH
    assert verdict_of([HELD], repeats=True) is None


@given(st.lists(st.sampled_from([HELD, MUCH, LITTLE]), max_size=MOST + 2))
def test_a_verdict_needs_a_lead_or_no_hope_of_one(plays: list[Verdict]) -> None:
    lead = 2 * plays.count(HELD) - len(plays)
    within_reach = abs(lead) + MOST - len(plays) >= LEAD
    said = verdict_of(plays, repeats=True)
    if said is HELD:
        assert lead >= LEAD
    elif said in (MUCH, LITTLE):
        assert lead <= -LEAD
        assert plays.count(said) >= plays.count(LITTLE if said is MUCH else MUCH)
    elif said is Verdict.UNCERTAIN:
        assert abs(lead) < LEAD
        assert not within_reach
    else:
        assert abs(lead) < LEAD
        assert within_reach


def test_plays_end_as_soon_as_no_lead_can_come_about() -> None:
    assert verdict_of([HELD, MUCH] * 3, repeats=True) is Verdict.UNCERTAIN
    assert verdict_of([HELD, MUCH, HELD, MUCH, HELD], repeats=True) is None
    assert verdict_of([HELD] * 3, repeats=True) is HELD
