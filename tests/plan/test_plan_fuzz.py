"""Whatever is written in a plan, the outcome is a requirement or one clear refusal."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.errors import VramError
from vramledger.plan.document import ContractPart, PlanPart, ScenarioPart, WorkloadPart
from vramledger.plan.read import parse_plan

KEYS = sorted(
    {
        key
        for part in (PlanPart, ScenarioPart, WorkloadPart, ContractPart)
        for key in part.model_fields
    }
    | {"p50", "p99", "max", "min", "up_to", "share", "input", "output", "kind", "total_gib"}
)
WORDS = ["auto", "fp8", "chat", "latency", "L4", "A100", "1/h", "06:00", "x.json", "", "9.0"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-10, 10**20)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.sampled_from(WORDS)
    | st.text(max_size=6)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def written(value: Any) -> str:
    """The value as YAML, floats that JSON lacks included."""
    import json

    text = json.dumps(value)
    for word, name in (("-Infinity", "-.inf"), ("Infinity", ".inf"), ("NaN", ".nan")):
        text = text.replace(word, name)
    return text


def outcome(text: str) -> None:
    try:
        requirement = parse_plan(text)
    except VramError as error:
        message = str(error)
        assert message
        assert "\n" not in message
        assert "pydantic" not in message.casefold()
    else:
        assert requirement.scenarios


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6))
@settings(max_examples=150, deadline=None)
def test_any_tree_is_a_requirement_or_a_refusal(tree: dict[str, Any]) -> None:
    base = {"name": "x", "model": "m", "workload": {"profile": "chat", "users": 6}}
    outcome(written(base | tree))


@given(st.sampled_from(sorted(WorkloadPart.model_fields)), VALUES)
@settings(max_examples=100, deadline=None)
def test_any_workload_is_a_requirement_or_a_refusal(key: str, value: Any) -> None:
    workload = {"profile": "chat", "users": 6, key: value}
    outcome(written({"name": "x", "model": "m", "workload": workload}))


@given(st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_requirement_or_a_refusal(text: str) -> None:
    outcome("name: x\nmodel: m\nworkload: {profile: chat, users: 6}\n" + text)
