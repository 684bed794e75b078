"""Prefixes cut behind the last identity that two requests share."""

import numpy as np

from simulated import arrival
from vramledger.simulate.fast.load import Load, load_of
from vramledger.simulate.fast.sharing import without_lone_tails


def _lengths(load: Load) -> list[int]:
    return [int(length) for length in without_lone_tails(load).asked["prefix_length"]]


def test_what_nobody_else_has_is_cut_from_the_end() -> None:
    prefixes = [(1, 2, 3, 4), (1, 2), (1, 9, 2, 8), (5, 6), ()]
    load = load_of([arrival(prefix=prefix) for prefix in prefixes])

    assert _lengths(load) == [2, 2, 3, 0, 0]


def test_an_identity_that_one_request_has_twice_stays() -> None:
    assert _lengths(load_of([arrival(prefix=(3, 7, 3, 4))])) == [3]


def test_identities_of_other_tenants_are_others() -> None:
    load = load_of([arrival(prefix=(1, 2), salt=0), arrival(prefix=(1, 2), salt=5)])

    assert _lengths(load) == [0, 0]


def test_large_and_negative_identities_are_counted_too() -> None:
    load = load_of([arrival(prefix=(-1, 10**17)), arrival(prefix=(-1, 10**17, 4))])

    assert _lengths(load) == [2, 2]


def test_rows_that_use_the_same_identities_are_left_alone() -> None:
    load = load_of([arrival(prefix=(1, 2)), arrival(prefix=(3, 4))])
    load.asked["prefix_start"] = 0

    assert _lengths(load) == [2, 2]


def test_the_load_that_was_given_does_not_change() -> None:
    load = load_of([arrival(prefix=(1, 2))])
    before = load.asked.copy()
    without_lone_tails(load)

    assert np.array_equal(load.asked, before)
