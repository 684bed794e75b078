"""The table of context limits: whom each turns away, what it costs, which is proposed."""

from dataclasses import replace

import pytest

from recorded_workloads import CHAT, LONG, limit_of, profile_of
from sizing_questions import LENGTHS, need, question, with_memory
from vramledger.evidence import Basis
from vramledger.plan.lengths import from_cells
from vramledger.plan.recorded import Recorded, part_for
from vramledger.plan.recorded_lengths import recorded_lengths
from vramledger.plan.requirement import Contract, Kind, Load, LoadUnit, Scenario
from vramledger.sizing.context_limits import cut_at
from vramledger.sizing.limit_rows import ContextLimits
from vramledger.sizing.offered import Offered, offered
from vramledger.sizing.question import Pinned, Question
from vramledger.sizing.search import size
from vramledger.sizing.turned_away import turned_away
from vramledger.workload.profile.profile import Profile

MOST = 40960
REQUESTS = [*CHAT, *LONG]
PROFILE = profile_of(REQUESTS)
LOAD = Load(LoadUnit.CONCURRENT, 8.0)


def of_profile(profile: Profile = PROFILE, allowed: float = 0.0) -> Offered:
    recorded = Recorded("w.json", profile)
    whole = recorded_lengths(part_for(recorded, "")).distribution
    return Offered((whole,), recorded, allowed)


def asked(allowed: float = 0.0, **changes: object) -> Question:
    everything = of_profile(allowed=allowed)
    sized = question(need(8, lengths=everything.lengths[0]))
    return replace(sized, offered=everything, max_model_len=12288, **changes)  # type: ignore[arg-type]


def table(sized: Question) -> ContextLimits:
    found = size(sized).limits
    assert found is not None
    return found


def test_shares_are_counts_of_the_log_and_the_longest_and_the_models_own_limit_are_rows() -> None:
    found = turned_away(of_profile(), MOST)
    longest = max(map(sum, REQUESTS))
    assert [each.limit for each in found] == [2048, 4096, 8192, longest, 16384, MOST]
    for each in found:
        truth = limit_of(REQUESTS, each.limit)
        assert each.refused == truth.refused / len(REQUESTS)
        assert each.cut == truth.cut / len(REQUESTS)
        assert each.counted


def test_no_limit_above_the_models_own_is_a_row() -> None:
    found = turned_away(of_profile(), 9500)
    assert [each.limit for each in found] == [2048, 4096, 8192, 9500]
    assert not found[-1].counted
    assert found[-1].away >= sum(sum(each) > 9500 for each in REQUESTS) / len(REQUESTS)


def test_what_asks_for_more_than_fits_is_turned_away_outright() -> None:
    most = [4000] * len(REQUESTS)
    profile = profile_of(
        REQUESTS, context=tuple(limit_of(REQUESTS, each, most) for each in (4096, 8192, 16384))
    )
    found = {each.limit: each for each in turned_away(of_profile(profile), MOST)}
    assert found[4096].over_budget == pytest.approx(1.0)
    assert found[4096].away == pytest.approx(1.0)
    assert found[16384].away == 0.0
    assert found[MOST].over_budget == 0.0


def test_stated_lengths_have_doublings_of_2048() -> None:
    found = turned_away(Offered((LENGTHS,)), MOST)
    assert [each.limit for each in found] == [2048, 4096, 7600, 8192, MOST]
    assert [round(each.away, 9) for each in found] == [0.4, 0.1, 0.0, 0.0, 0.0]
    assert found[0].refused == pytest.approx(0.1)  # 2,000 tokens of input still leave room for 48


def test_an_answer_is_cut_where_the_limit_ends() -> None:
    cut = cut_at(LENGTHS, 2048)
    assert cut is not None
    assert [(c.input_tokens, c.output_tokens) for c in cut.cells] == [(500, 200), (2000, 48)]
    assert cut_at(from_cells([(10, 5, 1.0)], Basis.ASSUMED, "one"), 10) is None


def test_where_nobody_may_be_turned_away_the_longest_request_is_proposed() -> None:
    found = table(asked())
    assert found.proposed is not None
    assert found.proposed.limit == max(map(sum, REQUESTS))
    assert found.proposed.turned.away == 0.0


def test_a_contract_that_leaves_failures_lets_the_limit_go_down() -> None:
    share = len(LONG) / len(REQUESTS)
    assert (proposed := table(asked(share)).proposed) is not None
    assert proposed.limit == 4096
    assert proposed.turned.away == pytest.approx(share)
    assert (proposed := table(asked(share * 0.99)).proposed) is not None
    assert proposed.limit == max(map(sum, REQUESTS))


def test_a_lower_limit_holds_more_requests_and_a_paged_engine_takes_no_memory_for_a_higher() -> (
    None
):
    found = table(asked())
    assert all(row.serves for row in found.rows)
    held = [row.held or 0 for row in found.rows]
    assert held == sorted(held, reverse=True)
    assert held[0] > held[-1]
    assert found.costs_nothing
    shares = [row.one_share or 0.0 for row in found.rows]
    assert shares == sorted(shares)


def test_a_limit_that_the_pool_cannot_hold_is_a_row_with_its_reason() -> None:
    one = replace(
        asked(), needs=(need(1, lengths=LENGTHS),), max_model_len=8192, pinned=Pinned(tp=1, pp=1)
    )
    tight = next(
        small for gib in range(180, 460, 4) if size(small := with_memory(one, gib / 10)).fits
    )
    rows = table(tight).rows
    assert rows[0].serves
    refused = [row for row in rows if not row.serves]
    assert [row.limit for row in refused] == [MOST]
    assert all(row.reason and row.held is None for row in refused)


def test_the_table_is_made_where_it_is_asked_for_or_requests_were_recorded() -> None:
    plain = replace(question(), offered=Offered((LENGTHS,)))
    assert size(plain).limits is None
    assert table(replace(plain, limits=True)).full
    assert not table(asked()).full
    assert size(with_memory(replace(asked(), pinned=Pinned(tp=1, pp=1)), 8.0)).limits is None


def test_the_strictest_contract_says_how_many_may_be_turned_away() -> None:
    def scenario(name: str, success: float | None) -> Scenario:
        return Scenario(name, Kind.LATENCY, LENGTHS, LOAD, contract=Contract(success=success))

    assert offered((scenario("a", 0.9), scenario("b", 0.98))).may_turn_away == pytest.approx(0.02)
    assert offered((scenario("a", 0.9), scenario("b", None))).may_turn_away == 0.0
