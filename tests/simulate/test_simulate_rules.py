"""What the scheduler of a vLLM version does, by its version string, and what follows from it."""

import pytest

from simulated import Stepper, arrival, settings
from vramledger.engine.vllm.rules import WindowAdmission
from vramledger.engine.vllm.versions import rules_for
from vramledger.simulate.groups import FullAttention, SlidingWindow
from vramledger.simulate.rules import SchedulingRules, scheduling_rules
from vramledger.simulate.settings import Order, Speculation


def _rules(version: str) -> SchedulingRules:
    return scheduling_rules(rules_for(version).rules)


def test_the_defaults_are_those_of_the_version_that_the_simulator_is_compared_with() -> None:
    assert _rules("0.32.0") == SchedulingRules()


@pytest.mark.parametrize(
    ("version", "whole_prompt", "window"),
    [
        ("0.18.0", False, WindowAdmission.WHOLE),
        ("0.19.0", True, WindowAdmission.WHOLE),
        ("0.20.0", True, WindowAdmission.ALWAYS),
        ("0.21.0", True, WindowAdmission.AT_ADMISSION),
    ],
)
def test_admission_by_version(version: str, whole_prompt: bool, window: WindowAdmission) -> None:  # noqa: FBT001 - a row of the table
    rules = _rules(version)

    assert rules.whole_prompt_admission is whole_prompt
    assert rules.window_admission is window


def test_the_free_queue_is_split_from_0_24_on() -> None:
    assert not _rules("0.22.0").uncached_blocks_first
    assert _rules("0.24.0").uncached_blocks_first


def test_a_lone_prefill_is_capped_up_to_0_31() -> None:
    assert not _rules("0.30.0").lone_prefill_uncapped
    assert _rules("0.32.0").lone_prefill_uncapped


def test_on_0_19_a_long_prompt_of_a_model_with_windows_never_starts() -> None:
    groups = (FullAttention(), SlidingWindow(8))
    rows = [arrival(120, 2)]  # 30 blocks of full attention, 30 more counted for the window
    newer = settings(num_blocks=51, groups=groups)
    older = settings(num_blocks=51, groups=groups, rules=_rules("0.19.0"))

    assert Stepper(newer, rows).steps(1) == [{0: 32}]
    assert Stepper(older, rows).steps(1) == [{}]


def test_before_0_24_lookahead_slots_are_not_taken_at_admission() -> None:
    drafting = Speculation(tokens=3, acceptance=0, lookahead=3)
    newer = Stepper(settings(speculation=drafting), [arrival(8, 4)])
    older = Stepper(settings(speculation=drafting, rules=_rules("0.22.0")), [arrival(8, 4)])
    newer.step()
    older.step()

    assert (newer.used, older.used) == (3, 2)


@pytest.mark.parametrize(("version", "step"), [("0.32.0", {0: 1}), ("0.33.0", {0: 1, 2: 1})])
def test_behind_a_request_that_is_its_own_victim_others_run_from_0_33_on(
    version: str, step: dict[int, int]
) -> None:
    engine = settings(num_blocks=9, order=Order.PRIORITY, rules=_rules(version))
    stepper = Stepper(engine, [arrival(9, 9), arrival(7, 9, priority=5)])
    stepper.step()
    stepper.add(arrival(9, 9))
    assert stepper.steps(1) == [{0: 1, 1: 1, 2: 9}]  # now every block is held

    assert stepper.steps(1) == [step]
    assert stepper.requests[1].preemptions == 1
