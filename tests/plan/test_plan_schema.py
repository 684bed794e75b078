"""The shipped schema is the one the types make, and the template leaves every choice open."""

import json

import pytest

from vramledger.plan.document import PlanPart, ScenarioPart
from vramledger.plan.problems import PlanProblems, allowed_keys
from vramledger.plan.read import parse_plan, plan_schema
from vramledger.plan.template import schema_text, template


def test_the_shipped_schema_has_not_drifted_from_the_types() -> None:
    assert json.loads(schema_text()) == plan_schema(), "run scripts/make_plan_schema.py"


def test_the_schema_refuses_unknown_keys_and_describes_the_known_ones() -> None:
    schema = plan_schema()
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == {"name", "model", "workload"}
    assert set(schema["properties"]) == set(PlanPart.model_fields)
    for part in schema["$defs"].values():
        assert part["additionalProperties"] is False


def test_a_fresh_template_lacks_exactly_what_only_its_owner_knows() -> None:
    with pytest.raises(PlanProblems) as caught:
        parse_plan(template(), "plan.yaml")
    lines = template().splitlines()
    model, workload = (lines.index(key) + 1 for key in ("model:", "workload:"))
    assert caught.value.problems == (
        f"plan.yaml line {model}: model is empty; it must be text.",
        f"plan.yaml line {workload}: workload is empty; it must be a mapping of keys.",
    )


def test_a_filled_template_is_a_plan_without_thresholds() -> None:
    text = template().replace("model:\n", "model: m\n")
    text = text.replace("workload:\n", "workload:\n  profile: chat\n  concurrent: 4\n", 1)
    (scenario,) = parse_plan(text).scenarios
    assert scenario.contract.is_empty


def test_the_template_names_every_key_of_the_plan() -> None:
    for key in (*PlanPart.model_fields, *ScenarioPart.model_fields):
        assert f"{key}:" in template(), key


def test_allowed_keys_follow_the_path_into_the_file() -> None:
    value = {"scenarios": {"d": {"contract": {"ttft_s": [{"p95": 1}]}}}, "hardware": [{}]}
    assert allowed_keys((), value) == tuple(PlanPart.model_fields)
    assert allowed_keys(("scenarios", "d"), value) == tuple(ScenarioPart.model_fields)
    assert "ttft_s" in allowed_keys(("scenarios", "d", "contract"), value)
    assert "total_gib" in allowed_keys(("hardware", 0), value)
    assert allowed_keys(("name",), value) == ()
