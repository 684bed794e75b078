"""Whom each router chooses."""

import pytest

from vramledger.errors import UnknownName
from vramledger.simulate.routing.least_loaded import LeastLoaded
from vramledger.simulate.routing.prefix_aware import PrefixAware
from vramledger.simulate.routing.registry import ROUTERS, router_for
from vramledger.simulate.routing.round_robin import RoundRobin
from vramledger.simulate.routing.router import Routed
from vramledger.simulate.view import View


def view(waiting: int = 0, running: int = 0, sent: int = 0) -> View:
    return View(waiting, running, sent, prompt_tokens=0, free_blocks=100)


def request(place: int = 0, tokens: int = 100, prefix: tuple[int, ...] = ()) -> Routed:
    return Routed(place, tokens, prefix, part_tokens=16)


def test_round_robin_goes_by_the_place() -> None:
    router = RoundRobin(3)
    assert [router.choose(request(place), ()) for place in (0, 4, 2, 3)] == [0, 1, 2, 0]


def test_a_waiting_request_weighs_as_much_as_four_that_run() -> None:
    assert LeastLoaded(2).choose(request(), (view(waiting=1), view(running=3))) == 1
    assert LeastLoaded(2).choose(request(), (view(waiting=1), view(running=5))) == 0


def test_between_two_publications_it_counts_what_it_has_sent() -> None:
    router, views = LeastLoaded(3), (view(running=1), view(), view(running=5))
    assert [router.choose(request(), views) for _ in range(5)] == [1, 0, 1, 0, 2]


def test_new_counts_replace_its_own() -> None:
    router = LeastLoaded(2)
    assert router.choose(request(), (view(), view(running=1))) == 0
    assert router.choose(request(), (view(), view(running=1))) == 0


@pytest.mark.parametrize("seed", [0, 1, 2, 7])
def test_equal_loads_go_to_the_first_from_the_seed_on(seed: int) -> None:
    equal = (view(),) * 3
    assert LeastLoaded(3, seed=seed).choose(request(), equal) == seed % 3
    assert PrefixAware(3, seed=seed).choose(request(), equal) == seed % 3


def test_the_engine_with_the_longest_prefix_gets_the_request() -> None:
    router, first, second = PrefixAware(3), (view(),) * 3, (view(sent=1), view(), view())
    assert router.choose(request(prefix=(1, 2, 3)), first) == 0
    assert router.choose(request(prefix=(7, 8)), second) == 1
    assert router.choose(request(prefix=(1, 2, 9)), second) == 0
    assert router.choose(request(prefix=(7, 8, 5)), first) == 1


def test_a_short_common_prefix_does_not_bind() -> None:
    router = PrefixAware(2)
    router.choose(request(prefix=(1, 2, 3)), (view(), view()))
    busy = (view(running=1), view())
    assert router.choose(request(tokens=1000, prefix=(1, 2)), busy) == 1  # 32 of 1000 tokens


def test_a_part_that_follows_another_is_no_prefix() -> None:
    router = PrefixAware(2)
    router.choose(request(prefix=(1, 2, 3, 4)), (view(), view()))
    assert router.choose(request(prefix=(9, 2, 3, 4)), (view(running=1), view())) == 1


def test_of_several_with_the_prefix_the_least_loaded_gets_it() -> None:
    router = PrefixAware(2)
    router.choose(request(prefix=(1, 2, 3)), (view(), view()))
    assert router.choose(request(prefix=(1, 2, 3)), (view(running=70), view())) == 1
    assert router.choose(request(prefix=(1, 2, 3)), (view(running=2), view(sent=3))) == 0


def test_loads_too_far_apart_overrule_the_prefix() -> None:
    for busy, chosen in ((64, 0), (65, 1)):
        router = PrefixAware(2)
        router.choose(request(prefix=(1, 2, 3)), (view(), view()))
        assert router.choose(request(prefix=(1, 2, 3)), (view(running=busy), view())) == chosen
    router = PrefixAware(2)
    router.choose(request(prefix=(1, 2, 3)), (view(), view()))
    apart = (view(running=280), view(running=200))  # not half as many again
    assert router.choose(request(prefix=(1, 2, 3)), apart) == 0


def test_what_nobody_knows_goes_to_the_least_loaded_however_much_it_was_sent() -> None:
    router = PrefixAware(2)
    for _ in range(3):
        assert router.choose(request(tokens=5000), (view(running=1), view(sent=2))) == 0
    assert router.choose(request(tokens=10), (view(running=1), view())) == 1


def test_routers_have_names() -> None:
    assert sorted(ROUTERS) == ["least-loaded", "prefix-aware", "round-robin"]
    assert isinstance(router_for("round-robin", 2, 0), RoundRobin)
    with pytest.raises(UnknownName, match="Unknown router 'least-load'; the nearest known one is"):
        router_for("least-load", 2, 0)
