"""Signs become scores: bounded, rising with each sign, and roots before what they explain."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.diagnose.causes.registry import BY_NAME, CAUSES
from vramledger.diagnose.hypothesis import Hypothesis, weighed
from vramledger.diagnose.ranking import ranked
from vramledger.diagnose.sign import Sign, both, ramp, strongest

strengths = st.one_of(st.none(), st.floats(0, 1))
signs = st.lists(
    st.builds(Sign, st.just("text"), strengths, st.floats(0.1, 3), st.booleans()), min_size=1, max_size=8
)  # fmt: skip
KV = BY_NAME["kv_cache"]


@given(signs)
def test_scores_and_confidences_are_shares(found: list[Sign]) -> None:
    hypothesis = weighed(KV, found)
    assert 0 <= hypothesis.confidence <= hypothesis.score <= 1
    told = len(hypothesis.supports) + len(hypothesis.contradicts) + len(hypothesis.unseen)
    assert told == len(found)


@given(signs, st.data())
def test_a_stronger_sign_never_lowers_the_score(found: list[Sign], data: st.DataObject) -> None:
    known = [place for place, each in enumerate(found) if each.strength is not None]
    if not known:
        return
    at = data.draw(st.sampled_from(known))
    raised = list(found)
    raised[at] = replace(found[at], strength=1.0)
    assert weighed(KV, raised).score >= weighed(KV, found).score - 1e-12


def test_without_what_is_needed_there_is_nothing() -> None:
    found = weighed(KV, (Sign("needed", 0.0, needed=True), Sign("else", 1.0)))
    assert found.score == 0


@pytest.mark.parametrize(
    ("value", "low", "high", "strength"),
    [(0.0, 1, 2, 0.0), (1.5, 1, 2, 0.5), (9.0, 1, 2, 1.0), (1.5, 2, 1, 0.5), (inf, 1, 2, 1.0), (inf, 2, 1, 0.0), (nan, 1, 2, None)],
)  # fmt: skip
def test_ramps(value: float, low: float, high: float, strength: float | None) -> None:
    assert ramp(value, low, high) == strength


def test_strengths_together() -> None:
    assert strongest(None, 0.2, 0.7) == 0.7
    assert strongest(None) is None
    assert both(0.5, 0.5) == 0.25
    assert both(0.5, None) is None


def scored(**scores: float) -> Sequence[Hypothesis]:
    return [Hypothesis(BY_NAME[name], (), score, score) for name, score in scores.items()]


def test_a_rush_comes_before_the_limit_that_it_meets() -> None:
    first, second = ranked(scored(sequence_cap=1.0, arrivals_above_capacity=0.8))
    assert first.cause.name == "arrivals_above_capacity"
    assert second.contradicts == (
        "Arrivals above capacity for a time explains it: that is what makes requests wait here.",
    )


def test_what_harms_comes_before_what_only_grows() -> None:
    first, _ = ranked(scored(memory_growth=1.0, kv_cache=0.7))
    assert first.cause.name == "kv_cache"


def test_ids_and_names_are_told_apart() -> None:
    assert len({each.id for each in CAUSES}) == len({each.name for each in CAUSES}) == len(CAUSES)
    assert [each.id for each in CAUSES] == sorted(each.id for each in CAUSES)
