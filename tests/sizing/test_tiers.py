"""The first screen over memory tiers."""

from itertools import pairwise

from sizing_questions import model_named
from vramledger.plan.profile import profile
from vramledger.report.tiers import tiers_json, to_text
from vramledger.sizing.tiers import TIER_CARDS, tiers

NAME = "Qwen/Qwen3-14B"


def test_every_tier_holds_at_least_what_a_smaller_one_of_its_maker_holds() -> None:
    found = tiers(NAME, model_named(NAME), [profile("chat"), profile("rag")])
    assert [tier.gigabytes for tier in found] == list(TIER_CARDS)
    for column in (0, 1):
        stored = [
            t.cells[column].held
            for t in found
            if t.card != "MI300X" and t.cells[column].precision.weights == "as-stored"
        ]
        assert all(a <= b for a, b in pairwise(stored))


def test_a_tier_that_needs_smaller_weights_is_starred_and_one_too_small_is_dashed() -> None:
    found = tiers(NAME, model_named(NAME), [profile("chat")])
    by_size = {tier.gigabytes: tier.cells[0] for tier in found}
    assert by_size[32].precision.weights == "fp8"
    assert by_size[32].held > 0
    assert by_size[16].held == 0
    assert by_size[16].reason
    text = to_text(NAME, found)
    lines = text.splitlines()
    assert lines[0] == f"What one GPU of each memory tier holds of {NAME}"
    assert next(row for row in lines if row.startswith("32 GB")).endswith(f"{by_size[32].held}*")
    assert next(row for row in lines if row.startswith("16 GB")).endswith("  -")
    assert "Measure next" in text


def test_what_is_quantised_is_screened_as_it_is() -> None:
    found = tiers("Qwen/Qwen3-14B-AWQ", model_named("Qwen/Qwen3-14B-AWQ"), [profile("chat")])
    assert {tier.cells[0].precision.weights for tier in found} == {"as-stored"}


def test_the_screen_as_json_says_what_was_checked() -> None:
    document = tiers_json(NAME, tiers(NAME, model_named(NAME), [profile("chat")]))
    assert document["schema"] == "vramledger.tiers/1"
    assert document["checked"] == ["memory"]


def test_a_profile_the_model_mostly_refuses_is_held_by_no_tier() -> None:
    name = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"  # 2,048 positions
    (cell,) = tiers(name, model_named(name), [profile("rag")])[-1].cells
    assert cell.held == 0
    assert cell.reason.endswith(
        "would be refused, more than the 10.0% that may be; choose a model of longer context."
    )
