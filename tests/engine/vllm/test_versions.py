"""Version strings and the rules they stand for."""

import pytest

from vramledger.engine.vllm.rules import (
    BatchTable,
    FitCheck,
    ProfileRule,
    SamplerPath,
    TokenFigure,
)
from vramledger.engine.vllm.versions import FAMILIES, rules_at, rules_for
from vramledger.errors import BadInput, UnknownName


@pytest.mark.parametrize(
    ("version", "family"),
    [
        ("0.19.1", "0.19"),
        ("v0.11.0", "0.11"),
        ("0.8.5.post1", "0.8"),
        ("0.9.0.1", "0.9"),
        ("0.10", "0.10"),
        ("v0.11.0-x86_64", "0.11"),
        ("0.4.0.post1", "0.4"),
        ("0.10.1+gptoss", "0.10"),
    ],
)
def test_a_release_has_the_rules_of_its_family_without_a_note(version: str, family: str) -> None:
    match = rules_for(version)
    assert (match.version, match.rules.family, match.note) == (version.lstrip("v"), family, "")


def test_a_development_build_says_whose_rules_are_used() -> None:
    match = rules_for("0.19.1rc1.dev316+g39ac64049")
    assert match.rules == rules_for("0.19.1").rules
    assert match.note == (
        "vLLM 0.19.1rc1.dev316+g39ac64049 is a build between releases; the rules of 0.19 are "
        "used, and some of the next release may already hold."
    )


@pytest.mark.parametrize("version", ["nightly", "latest", "main", "nightly-1a2b3c", None, "0.40.1"])
def test_moving_missing_and_newer_versions_get_the_newest_rules_and_say_so(
    version: str | None,
) -> None:
    match = rules_for(version)
    assert match.rules.family == FAMILIES[-1] == "0.33"
    assert match.note.endswith("(0.33).")


def test_no_version_is_said() -> None:
    assert rules_for(None).note == (
        "No engine version is given; the newest known rules are used (0.33)."
    )


def test_garbage_and_too_old_versions_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"Unknown vLLM version '0\.19\.x'; the nearest known"):
        rules_for("0.19.x")
    with pytest.raises(BadInput) as refused:
        rules_for("0.3.1")
    assert str(refused.value) == (
        "vLLM 0.3.1 is older than any known version; known are 0.4 to 0.33."
    )


def test_every_family_has_rules_that_name_it() -> None:
    for family in FAMILIES:
        assert rules_for(f"{family}.0").rules.family == family


@pytest.mark.parametrize(
    ("release", "before", "rule", "value"),
    [
        ("0.6.4", "0.6.3", "profile", ProfileRule.V1_ALL_NON_TORCH),
        ("0.6.5", "0.6.4", "profile", ProfileRule.V0_PARTS),
        ("0.9.1", "0.9.0", "profile", ProfileRule.V1_OWN),
        ("0.27.0", "0.26.0", "profile", ProfileRule.V1_DEVICE_DELTA),
        ("0.21.0", "0.20.0", "token_figure", TokenFigure.CONCURRENCY),
        ("0.14.0", "0.13.0", "fit_check", FitCheck.FIRST_GROUP),
        ("0.19.0", "0.18.0", "fit_check", FitCheck.ALL_GROUPS),
        ("0.12.0", "0.11.2", "padding_threshold", 1.25),
        ("0.18.0", "0.17.0", "padding_threshold", 1.5),
        ("0.20.0", "0.19.0", "utilization_default", 0.92),
        ("0.20.0", "0.19.0", "graph_in_budget", True),
        ("0.26.0", "0.25.0", "window_in_flight", True),
        ("0.29.0", "0.28.0", "null_block_in_fit_check", True),
        ("0.28.0", "0.27.0", "hybrid_prefix_caching", True),
        ("0.28.0", "0.27.0", "batch_table", BatchTable.BY_MEMORY_160),
        ("0.17.0", "0.16.0", "sampler", SamplerPath.TRITON),
        ("0.21.0", "0.20.0", "sampler", SamplerPath.FLASHINFER),
        ("0.11.0", "0.10.2", "nccl_outside_budget", True),
        ("0.14.0", "0.13.0", "async_scheduling", True),
        ("0.10.2", "0.10.1", "kv_memory_bytes", True),
        ("0.14.0", "0.13.0", "auto_fit", True),
        ("0.8.0", "0.7.3", "v1", True),
    ],
)
def test_a_rule_changes_in_the_release_that_changed_it(
    release: str, before: str, rule: str, value: object
) -> None:
    assert getattr(rules_for(release).rules, rule) == value
    assert getattr(rules_for(before).rules, rule) != value


def test_both_generations_of_a_release_have_their_own_rules() -> None:
    old, new = rules_at((0, 8, 5), v1=False), rules_at((0, 8, 5), v1=True)
    assert (old.token_figure, new.token_figure) == (TokenFigure.BLOCKS, TokenFigure.GROUP_BLOCKS)
    assert (old.swap_space, new.swap_space) == (True, False)
    assert (old.v1, new.v1) == (False, True)
