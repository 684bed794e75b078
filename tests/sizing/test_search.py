"""All candidates of a question: layouts, ranking, and the next smaller choice."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from sizing_questions import need, question, with_memory
from vramledger.engine.setting import Layout
from vramledger.engine.vllm.versions import rules_for
from vramledger.hardware.catalogue import find
from vramledger.sizing.candidate import Precision
from vramledger.sizing.evaluate import Choice, Evaluator
from vramledger.sizing.layouts import layouts
from vramledger.sizing.question import Pinned, Question
from vramledger.sizing.search import size


def splits(asked: Question, card: str, *, across: bool = False) -> list[tuple[int, int]]:
    rules = rules_for("0.33").rules
    found = layouts(asked, asked.model, find(card), rules, across=across)
    return [(layout.tp, layout.pp) for layout in found]


def fewest_gpus(asked: Question) -> float:
    best = size(asked).cards[0].best
    return best.gpus if best else float("inf")


def held(asked: Question) -> int:
    choice = Choice(asked.accelerators[0], Precision(), Layout())
    found = Evaluator(asked).evaluate(choice)
    return found.holdings[0].held[0.95] if found.fits else 0


def test_powers_of_two_are_tried_within_a_server() -> None:
    assert splits(question(), "L4") == [
        (1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2), (8, 1),
    ]  # fmt: skip


def test_stages_may_go_over_several_servers_of_eight() -> None:
    assert splits(question(), "L4", across=True) == [(8, 2), (8, 4)]
    assert splits(question(), "GH200-96GB", across=True) == []


def test_other_numbers_of_ranks_are_tried_where_they_are_legal() -> None:
    small = question(model="HuggingFaceTB/SmolLM2-135M-Instruct")  # 9 heads, 3 KV heads
    assert (3, 1) in splits(small, "L40S")
    assert (5, 1) not in splits(small, "L40S")
    assert (2, 1) in splits(small, "L40S")  # not legal, and told


def test_a_stated_layout_is_the_only_one() -> None:
    assert splits(replace(question(), pinned=Pinned(tp=2, pp=2)), "L4") == [(2, 2)]


def test_expert_parallelism_makes_a_layout_legal() -> None:
    asked = question(model="Qwen/Qwen3-235B-A22B-FP8")
    rules = rules_for("0.33").rules
    found = {
        (layout.tp, layout.expert_parallel)
        for layout in layouts(asked, asked.model, find("H200-141GB-SXM"), rules, across=False)
    }
    either = {(1, False), (2, False), (2, True), (4, False), (4, True)}
    assert {one for one in found if one[0] < 8} == either
    assert {one for one in found if one[0] == 8} == {(8, True)}  # 192 inputs: no whole FP8 block


def test_a_large_mixture_of_experts_is_offered_whole_in_a_server_before_stages() -> None:
    asked = question(model="deepseek-ai/DeepSeek-R1", cards=["H200-141GB-SXM"])
    layouts = [c.layout for c in size(asked).cards[0].candidates if c.fits]
    assert layouts[:2] == [Layout(tp=8), Layout(tp=8, expert_parallel=True)]
    assert Layout(tp=2, pp=4) in layouts


def test_a_limit_of_sequences_that_the_load_needs_is_a_candidate() -> None:
    asked = with_memory(question(need(4), model="openai/gpt-oss-20b"), 18.0)
    (card,) = size(asked).cards
    best = card.best
    assert best is not None
    assert best.gpus == 1
    assert "--max-num-seqs 8" in best.launch
    assert best.notes[-1] == (
        "--max-num-seqs is lowered to the 8 that the load needs at most; with the engine's own limit "
        "this does not fit."
    )
    plain = [c for c in card.candidates if c.layout == Layout() and "max-num-seqs" not in c.launch]
    assert [c.fits for c in plain] == [False]


def test_fitting_candidates_come_first_and_by_gpus() -> None:
    (card,) = size(question(need(200))).cards
    fits = [c.fits for c in card.candidates]
    assert fits == sorted(fits, reverse=True)
    gpus = [c.gpus for c in card.candidates if c.fits]
    assert gpus == sorted(gpus)


def test_cards_keep_their_order_until_prices_rank_them() -> None:
    asked = question(cards=["L4", "H100-80GB-SXM", "L40S"])
    assert [c.accelerator.name for c in size(asked).cards] == ["L4", "H100-80GB-SXM", "L40S"]
    priced = replace(asked, prices={"L40S": 1.0, "H100-80GB-SXM": 2.5})
    assert [c.accelerator.name for c in size(priced).cards] == ["L40S", "H100-80GB-SXM", "L4"]


def test_the_price_is_that_of_all_gpus() -> None:
    asked = replace(question(need(300)), prices={"L40S": 0.5})
    best = size(asked).cards[0].best
    assert best is not None
    assert best.price_per_hour == best.gpus * 0.5


def test_the_next_smaller_layout_says_why_and_what_would_mend_it() -> None:
    (card,) = size(question(need(4), model="Qwen/Qwen3-32B", cards=["L40S"])).cards
    assert card.best is not None
    assert card.best.layout == Layout(tp=2)
    assert card.smaller is not None
    (single,) = [c for c in card.candidates if c.layout == Layout()]
    assert card.smaller.what == "TP 1"
    assert card.smaller.reason == single.reason
    assert single.reason.startswith("Loading the weights fails: they need 61.")
    assert card.smaller.remedies == ("FP8 weights",)


def test_one_replica_less_says_what_is_missing() -> None:
    asked = replace(question(need(400), cards=["H200-141GB-SXM"]), largest_tp=1, largest_pp=1)
    (card,) = size(asked).cards
    best = card.best
    assert best is not None
    assert best.replicas > 1
    held = (best.replicas - 1) * best.holdings[0].held[0.95]
    assert card.smaller is not None
    assert card.smaller.reason.endswith(f"{held:,} of the 400 requests in flight of daily.")


def test_nothing_smaller_than_one_gpu_is_explained() -> None:
    (card,) = size(question(need(1), cards=["B200"])).cards
    assert card.best is not None
    assert card.best.gpus == 1
    assert card.smaller is None


def test_the_stricter_of_two_peaks_decides() -> None:
    small, large = need(10, hours="08:00-12:00"), need(300, name="late", hours="13:00-18:00")
    alone, both = size(question(large)), size(question(small, large))
    assert [c.gpus for c in both.cards[0].candidates if c.fits] == [
        c.gpus for c in alone.cards[0].candidates if c.fits
    ]


def test_loads_that_coincide_need_at_least_what_each_needs() -> None:
    day, late = need(150, hours="08:00-14:00"), need(150, name="late", hours="13:00-18:00")
    together = fewest_gpus(question(day, late))
    assert together >= max(fewest_gpus(question(day)), fewest_gpus(question(late)))
    assert together == fewest_gpus(question(need(300)))


def test_an_unknown_version_is_said() -> None:
    notes = size(question(version="0.99")).notes
    assert any("0.33" in note for note in notes)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 400), st.integers(0, 400))
def test_more_load_never_needs_fewer_gpus(load: int, more: int) -> None:
    assert fewest_gpus(question(need(load + more))) >= fewest_gpus(question(need(load)))


@settings(max_examples=10, deadline=None)
@given(st.floats(18, 120), st.floats(0, 60))
def test_more_memory_never_holds_fewer_requests(gib: float, more: float) -> None:
    # below 70 GiB, from 70 and from 160 GiB the engine's defaults differ, so compare within a class
    top = gib + more
    if (gib < 70) != (top < 70) or (gib < 160) != (top < 160):
        top = gib
    assert held(with_memory(question(), top)) >= held(with_memory(question(), gib))
