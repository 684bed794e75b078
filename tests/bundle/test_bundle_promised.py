"""The contract is that of the plan in the bundle, and not only one that the runs carry."""

from pathlib import Path
from typing import Any

import pytest

from recorded_trials import standing
from sealed_runs import contracted, wrong
from vramledger.bundle.sealing import seal
from vramledger.bundle.verifying import verify
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit

PROMISED = {"ttft_s": (LatencyLimit(None, {0.5: 0.6}),)}


def _trial(contract: Contract | None) -> dict[str, Any]:
    stated = None if contract is None else contract_to_json(contract)
    return standing().to_json() | {"contract": stated}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (
            {"trial": _trial(Contract(latency=PROMISED, success=0.5))},
            "was held to another success than plan.yaml promises for its scenario chat",
        ),
        (
            {"trial": _trial(Contract(latency=PROMISED | {"itl_s": PROMISED["ttft_s"]}, success=0.9))},
            "was held to another limit than plan.yaml promises for its scenario chat",
        ),
        (
            {"trial": _trial(None)},
            "carries no contract, and plan.yaml has one for its scenario chat",
        ),
        (
            {"scenario": "night"},
            "is of the scenario 'night', which plan.yaml does not have",
        ),
        (
            {"trial": _trial(None) | {"contract": {"latency": 1}}},
            "carries a contract that is none",
        ),
    ],
)  # fmt: skip
def test_a_run_that_was_held_to_something_else(
    tmp_path: Path, values: dict[str, Any], why: str
) -> None:
    sealed = seal(contracted(tmp_path, **values))
    assert wrong(verify(sealed.path)) == [("contract", f"Run 001 {why}.")]
    assert [(each.name, each.said) for each in sealed.unfit] == [("contract", f"Run 001 {why}.")]


def test_what_the_plan_promises(tmp_path: Path) -> None:
    (said,) = (
        each.said
        for each in verify(seal(contracted(tmp_path)).path).checks
        if each.name == "contract"
    )
    assert said == "Every run was held to what plan.yaml promises for its scenario."
