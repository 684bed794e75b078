"""Times at which something is due."""

from hypothesis import given
from hypothesis import strategies as st

from vramledger.simulate.due import Due, earliest

DUE = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)))


@given(DUE, st.integers(0, 20))
def test_what_is_due_is_handed_out_once_and_in_its_order(
    added: list[tuple[int, int]], now: int
) -> None:
    due = Due()
    for when, rank in added:
        due.add(when, rank)
    early = sorted(one for one in added if one[0] <= now)
    assert list(due.taken(now)) == [rank for _, rank in early]
    assert list(due.taken(now)) == []
    assert due.first == min((when for when, _ in added if when > now), default=None)


def test_the_earliest_of_times_leaves_out_those_that_do_not_come() -> None:
    assert earliest(None, 5, 3) == 3
    assert earliest(None, None) is None
