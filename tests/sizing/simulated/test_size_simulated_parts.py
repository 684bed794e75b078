"""Candidates in the simulator: which are played, with what load, and how many replicas it takes."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorded_workloads import CHAT, profile_of, written
from sizing_questions import LENGTHS, question
from stored_workloads import column, request, stored
from vramledger.engine.setting import Layout
from vramledger.plan.recorded import read_recorded
from vramledger.plan.requirement import Contract, Kind, Load, LoadUnit, Scenario
from vramledger.sizing.candidate import Candidate, CardResult, Margin
from vramledger.sizing.search import size
from vramledger.sizing.simulated.card_order import in_order
from vramledger.sizing.simulated.choose import by_rank
from vramledger.sizing.simulated.drawn import Drawn, write_drawn
from vramledger.sizing.simulated.load import NotPlayable, Playable, playable
from vramledger.sizing.simulated.ranking import ranked
from vramledger.sizing.simulated.replicas import (
    AsExpected,
    as_expected,
    fewest,
    with_replicas,
    with_slow_end,
)
from vramledger.sizing.simulated.result import ContractLine, ScenarioRun, Seen, Simulated
from vramledger.sizing.simulated.slow_end import with_cost_told
from vramledger.sizing.simulated.words import queue_words, speed_words, why_not


@pytest.fixture(scope="module")
def card() -> CardResult:
    (found,) = size(replace(question(), prices={"L40S": 1.5})).cards
    return found


def seen(**changed: object) -> Seen:
    plain = Seen(0.8, 0.031, 0.01, 9.0, 0.5, 1200.0, True, 0, {"offered": 9, "ok": 9}, (), "")
    return replace(plain, **changed)  # type: ignore[arg-type]


def ran(*fails: str, people: bool = True, **changed: object) -> ScenarioRun:
    return ScenarioRun("daily", "a load", people, seen(**changed), None, fails, "calibrated", ())


def test_cards_take_turns_with_their_best_first(card: CardResult) -> None:
    fitting = replace(card.candidates[0], fits=True)
    cards = [
        CardResult(card.accelerator, tuple([fitting] * 3)),
        CardResult(card.accelerator, (replace(fitting, fits=False),)),
        CardResult(card.accelerator, (fitting, replace(fitting, fits=False))),
    ]
    assert list(by_rank(cards)) == [(0, 0), (2, 0), (0, 1), (0, 2)]


@given(st.integers(1, 40), st.integers(1, 400))
def test_the_fewest_replicas_that_pass_are_found_with_each_number_tried_once(
    own: int, needed: int
) -> None:
    tried: list[int] = []
    candidate = replace(PLAIN, replicas=own)

    def passes(one: Candidate) -> bool:
        tried.append(one.replicas)
        return one.replicas >= needed

    found = fewest(candidate, passes)
    assert len(tried) == len(set(tried))
    assert all(own < replicas <= 8 * own for replicas in tried)
    if needed > 8 * own:
        assert found is None
    elif needed > own:
        assert found is not None
        assert found.replicas == needed


PLAIN = size(question()).cards[0].candidates[0]


def test_more_replicas_cost_more_and_fill_servers(card: CardResult) -> None:
    best = card.best
    assert best is not None
    assert best.price_per_hour is not None
    found = with_replicas(best, best.replicas * 3)
    assert found.gpus == 3 * best.gpus
    assert found.price_per_hour == pytest.approx(3 * best.price_per_hour)
    assert found.servers >= best.servers
    assert best.idle_share is not None
    assert found.idle_share == pytest.approx(1 - (1 - best.idle_share) / 3)
    assert found.reason == (
        f"Memory needs {best.replicas} replica{'s' if best.replicas > 1 else ''}, the speed that is "
        f"asked for {3 * best.replicas} (simulated)."
    )


def test_what_fails_goes_behind_what_passes_and_what_was_not_played(card: CardResult) -> None:
    base = replace(card.candidates[0], fits=True, replicas=1)
    failing = replace(
        base, simulated=Simulated((ran("ttft_s p95 <= 1 (3)"),)), speed="FAIL", reason="Slow."
    )
    unknown = replace(base, replicas=2)
    passing = replace(base, replicas=4, simulated=Simulated((ran(),)), speed="PASS")
    broken = replace(base, fits=False, replicas=1)
    found = ranked(card, [failing, unknown, broken, passing])
    assert found.candidates == (passing, unknown, failing, broken)
    assert found.best == passing
    assert found.smaller is not None
    assert (found.smaller.what, found.smaller.reason) == ("TP1 x 1", "Slow.")
    alike = ranked(card, [replace(failing, replicas=4), passing])
    assert alike.smaller is None  # as many GPUs are not fewer
    only = ranked(card, [failing, broken])
    assert only.best is None
    assert only.nearest == failing


def of(candidate: Candidate, *runs: ScenarioRun) -> Candidate:
    return replace(candidate, simulated=Simulated(runs))


def test_of_equal_gpus_goodput_decides_then_the_tightest_limit_then_the_whole_answer(
    card: CardResult,
) -> None:
    two = replace(card.candidates[0], fits=True, replicas=2)
    split = replace(two, layout=Layout(tp=2), replicas=1)

    def near(used: float) -> tuple[ContractLine, ...]:
        return (ContractLine("ttft_s p95 <= 1", str(used), True, used),)

    most = of(two, ran(goodput_per_hour=1_300.0, lines=near(0.9)))
    less = of(split, ran(goodput_per_hour=1_200.0, lines=near(0.1)))
    assert ranked(card, [less, most]).candidates == (most, less)
    alike = of(split, ran(goodput_per_hour=1_295.0, lines=near(0.8)))
    assert ranked(card, [most, alike]).candidates == (alike, most)
    slow = of(split, replace(ran(goodput_per_hour=1_295.0), slow=seen(lines=near(0.95))))
    assert ranked(card, [slow, most]).candidates == (most, slow)
    staged = of(replace(two, layout=Layout(pp=2), replicas=1), ran(goodput_per_hour=9_000.0))
    assert ranked(card, [less, staged]).candidates == (staged, less)
    later = of(two, ran(goodput_per_hour=None, e2e_p95_s=9.5))
    sooner = of(split, ran(goodput_per_hour=None, e2e_p95_s=9.0))
    assert ranked(card, [later, sooner]).candidates == (sooner, later)
    fewer = of(replace(two, replicas=1), ran(goodput_per_hour=1.0))
    assert ranked(card, [most, fewer]).candidates == (fewer, most)


def test_what_fails_at_the_slow_end_leaves_the_answer_open(card: CardResult) -> None:
    sizing = size(question())
    base = replace(card.candidates[0], fits=True)
    slow = of(base, replace(ran("ttft_s p95 <= 1 (2) at the slow end"), sure=False))
    sure = of(base, ran("ttft_s p95 <= 1 (3)"))
    for candidates, known in (((slow,), False), ((sure,), True), ((sure, slow), False)):
        one = replace(sizing, simulated=True, cards=(replace(card, candidates=candidates),))
        assert (one.holds, one.known) == (False, known)


def test_the_goodput_told_is_that_of_the_scenario_that_decides() -> None:
    near = (ContractLine("ttft_s p95 <= 1", "0.9", True, 0.9),)
    far = (ContractLine("ttft_s p95 <= 1", "0.1", True, 0.1),)
    daily = ran(lines=far, goodput_per_hour=500.0)
    peak = replace(ran(lines=near, goodput_per_hour=900.0), scenario="peak")
    assert speed_words(Simulated((daily, peak))).endswith(", 900/h in peak")
    slow = replace(daily, slow=seen(lines=(replace(far[0], used=0.95),)))
    assert speed_words(Simulated((slow, peak))).endswith(", 500/h in daily")
    fails = replace(daily, fails=("ttft_s p95 <= 1 (3)",))
    assert speed_words(Simulated((fails, peak))).endswith(", 500/h in daily")
    assert Simulated(()).deciding is None


def at(candidate: Candidate, replicas: int, *fails: str, sure: bool = True) -> Candidate:
    run = replace(ran(*fails), sure=sure)
    return replace(with_replicas(candidate, replicas), simulated=Simulated((run,)))


def test_replicas_that_the_slow_end_costs_are_told_and_a_margin() -> None:
    base = replace(PLAIN, replicas=1)
    played = (at(base, 1, "x"), at(base, 2, "x"), at(base, 4, "x", sure=False), at(base, 7))
    assert as_expected(played, 1) == AsExpected(4, exact=False)
    exact = as_expected((*played, at(base, 3, "x")), 1)
    assert exact == AsExpected(4, exact=True)
    assert as_expected((at(base, 1, "x", sure=False), at(base, 2)), 1) == AsExpected(1, exact=True)
    assert as_expected((at(base, 1, "x"), base), 1) is None
    found = with_slow_end(played[3], 1, exact)
    assert found.reason == (
        "Memory needs 1 replica, the speed that is asked for 7 (simulated: 4 as expected, 7 at the "
        "slow end of the step times)."
    )
    saved = 3 * base.layout.world
    assert found.margins[-1] == Margin("slow end of the step times (simulated)", 0, saved)
    assert {margin.gpus for margin in found.margins[:-1]} <= {0}
    bound = with_slow_end(played[3], 1, AsExpected(4, exact=False))
    assert "(simulated: at most 4 as expected, 7 at the slow end" in bound.reason
    assert bound.margins[-1].name == "slow end of the step times (simulated, at least)"
    assert with_slow_end(played[3], 1, AsExpected(7, exact=True)) == played[3]


def test_another_layout_that_does_with_fewer_gpus_as_expected_is_told(card: CardResult) -> None:
    base = replace(card.candidates[0], fits=True, replicas=1, layout=Layout(), reason="Holds.")
    open_end = of(base, replace(ran("x"), sure=False))
    best = of(replace(base, layout=Layout(tp=2)), ran())
    found = with_cost_told(replace(card, candidates=(best, open_end))).best
    assert found is not None
    assert found.reason == (
        "Holds. 1 GPU as expected (TP1 x 1), 2 at the slow end of the step times (simulated)."
    )
    assert found.margins[-1] == Margin("slow end of the step times (simulated)", 0, 1)
    sure = replace(card, candidates=(best, of(base, ran("x"))))
    assert with_cost_told(sure) == sure


def test_cards_are_ordered_by_the_price_of_what_passed(card: CardResult) -> None:
    base = replace(card.candidates[0], fits=True, replicas=1)

    def priced(price: float, *fails: str) -> CardResult:
        one = replace(base, price_per_hour=price, simulated=Simulated((ran(*fails),)))
        return replace(card, candidates=(one,))

    dear, cheap, failing = priced(5.6), priced(2.5), priced(0.8, "x")
    unplayed = replace(card, candidates=(replace(base, price_per_hour=0.5),))
    asked = replace(question(), prices={"L40S": 1.5}, open_cards=False)
    cards = [failing, unplayed, dear, cheap]
    assert in_order(cards, asked) == [cheap, dear, unplayed, failing]
    assert in_order(cards, replace(asked, prices={})) == cards
    found = replace(size(question()), simulated=True, cards=tuple(cards))
    assert found.cheapest == cheap.best
    assert found.serving == (dear.best, cheap.best)


def test_the_columns_say_the_slowest_scenario_that_people_wait_for() -> None:
    night = replace(ran(people=False, ttft_p95_s=900.0, queue_p95_s=800.0), scenario="nightly")
    held = (ContractLine("ttft_s p95 <= 1", "0.8", True),)
    found = Simulated((ran(lines=held), night))
    assert speed_words(found) == "PASS, TTFT 800 ms, TPOT 31 ms, 1,200/h in daily"
    assert queue_words(found) == "10 ms, drains"
    failing = Simulated((ran("ttft_s p95 <= 1 (3)", ttft_p95_s=float("inf"), queue_drains=False),))
    assert speed_words(failing) == "FAIL, TTFT inf, TPOT 31 ms, 1,200/h"
    assert queue_words(failing) == "10 ms, grows"
    assert why_not(failing) == "In the simulation it does not serve daily: ttft_s p95 <= 1 (3)."
    at_slow_end = Simulated((replace(ran("ttft_s p95 <= 1 (3)"), sure=False),))
    assert speed_words(at_slow_end).startswith("FAIL at the slow end, TTFT ")
    assert speed_words(Simulated((ran(goodput_per_hour=None),))) == "TTFT 800 ms, TPOT 31 ms"


def test_drawn_requests_are_those_of_the_distribution_at_the_rate(tmp_path: Path) -> None:
    drawn = Drawn(LENGTHS, 5.0, None)
    path = write_drawn(drawn, tmp_path / "a.parquet", 3)
    again = write_drawn(drawn, tmp_path / "b.parquet", 3)
    other = write_drawn(drawn, tmp_path / "c.parquet", 4)
    assert path.read_bytes() == again.read_bytes()
    assert path.read_bytes() != other.read_bytes()
    lengths = list(zip(column(path, "input_tokens"), column(path, "output_tokens"), strict=True))
    assert len(lengths) == drawn.requests == 9_000
    assert set(lengths) == {(cell.input_tokens, cell.output_tokens) for cell in LENGTHS.cells}
    for cell in LENGTHS.cells:
        share = lengths.count((cell.input_tokens, cell.output_tokens)) / len(lengths)
        error = (cell.weight * (1 - cell.weight) / len(lengths)) ** 0.5
        assert abs(share - cell.weight) < 4 * error
    arrivals = column(path, "arrival_s")
    assert arrivals[0] == 0
    assert len(arrivals) / arrivals[-1] == pytest.approx(5.0, rel=4 / len(arrivals) ** 0.5)


def test_few_and_very_many_requests_are_bounded() -> None:
    assert Drawn(LENGTHS, 0.01, None).requests == 2_000
    assert Drawn(LENGTHS, 1e6, None).requests == 50_000
    assert Drawn(LENGTHS, None, 500).requests == 10_000


def scenario(load: Load, kind: Kind = Kind.LATENCY, **more: object) -> Scenario:
    return Scenario("daily", kind, LENGTHS, load, **more)  # type: ignore[arg-type]


def found_load(one: Scenario, folder: Path) -> Playable:
    found = playable(one, folder, folder / "scratch", 0)
    assert isinstance(found, Playable)
    return found


def test_stated_loads_become_drawn_requests_and_say_so(tmp_path: Path) -> None:
    rate = found_load(scenario(Load(LoadUnit.REQUESTS_PER_S, 3.0)), tmp_path)
    assert rate.said == (
        "5,400 synthetic requests (three cells, seed 0), Poisson arrivals at 3 a second"
    )
    flight = found_load(scenario(Load(LoadUnit.CONCURRENT, 40.0)), tmp_path)
    assert flight.in_flight == 40
    assert flight.said == "2,000 synthetic requests (three cells, seed 0), always 40 in flight"
    people = found_load(scenario(Load(LoadUnit.USERS, 600.0)), tmp_path)
    assert people.said == (
        "4,500 synthetic requests (three cells, seed 0), Poisson arrivals at 2.5 a second of 600 people"
    )
    assert people.in_flight is None


def test_recorded_requests_are_played_by_their_own_clock_at_the_load(tmp_path: Path) -> None:
    rows = [request(i, arrival_s=i * 2.0, input_tokens=100, output_tokens=10) for i in range(500)]
    stored(tmp_path / "w.parquet", rows)
    recorded = read_recorded("w.parquet", tmp_path)
    mean = recorded.profile.arrival.mean_per_s
    assert mean is not None
    load = Load(LoadUnit.REQUESTS_PER_S, 3 * mean, recorded=True)
    found = found_load(scenario(load, recorded=recorded), tmp_path)
    assert found.part.workload == tmp_path / "w.parquet"
    assert found.part.rate_scale == pytest.approx(3)
    assert found.said.endswith("w.parquet, arrivals x3")


def test_a_profile_has_requests_drawn_like_it(tmp_path: Path) -> None:
    written(profile_of(CHAT, 2.0), tmp_path / "w.json")
    one = scenario(
        Load(LoadUnit.CONCURRENT, 9.0, per_s=4.0, recorded=True),
        recorded=read_recorded("w.json", tmp_path),
    )
    found = found_load(replace(one, name="whole"), tmp_path)
    assert found.said == "2,000 synthetic requests like w.json (seed 0) at 4 a second"
    inputs = column(found.part.workload, "input_tokens")
    assert len(inputs) == 2_000
    assert min(inputs) >= 300


def test_work_that_waits_is_not_played(tmp_path: Path) -> None:
    waits = scenario(
        Load(LoadUnit.USERS, 60.0), Kind.THROUGHPUT, contract=Contract(done_by="06:00")
    )
    assert playable(waits, tmp_path, tmp_path / "x", 0) == NotPlayable(
        "daily is work that waits, and how much of it is handed in is not stated; state its "
        "requests_per_s or concurrent to have it simulated."
    )
