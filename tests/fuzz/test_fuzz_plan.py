"""Plan files of every kind of wrong: a requirement or one clear refusal, many thousand times."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vramledger.errors import VramError
from vramledger.plan.document import ContractPart, PlanPart, ScenarioPart, WorkloadPart
from vramledger.plan.read import parse_plan
from vramledger.plan.template import template

pytestmark = pytest.mark.fuzz
MANY = settings(max_examples=6000, deadline=None, suppress_health_check=list(HealthCheck))
BASE = {"name": "x", "model": "m", "workload": {"profile": "chat", "users": 6}}
PARTS = (PlanPart, ScenarioPart, WorkloadPart, ContractPart)
KEYS = sorted({key for part in PARTS for key in part.model_fields} | {"p50", "max", "up_to"})
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-10, 10**20)
    | st.floats()
    | st.sampled_from(["auto", "fp8", "chat", "latency", "A100", "1/h", "06:00", "x.json", ""])
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
FILLED = (
    template()
    .replace("model:\n", "model: m\n")
    .replace("workload:\n", "workload:\n  profile: chat\n  users: 6\n", 1)
)


def outcome(text: str) -> bool:
    """Whether the text is a requirement, or refused in one line that shows no inner workings."""
    try:
        return bool(parse_plan(text).scenarios)
    except VramError as error:
        message = str(error)
        return bool(message) and "\n" not in message and "pydantic" not in message


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6))
@MANY
def test_trees(tree: dict[str, Any]) -> None:
    text = json.dumps(BASE | tree)
    for word, name in (("-Infinity", "-.inf"), ("Infinity", ".inf"), ("NaN", ".nan")):
        text = text.replace(word, name)
    assert outcome(text)


@given(st.integers(0, len(FILLED)), st.integers(0, 30), st.text(max_size=8))
@MANY
def test_edits_of_a_sound_plan(start: int, length: int, inserted: str) -> None:
    assert outcome(FILLED[:start] + inserted + FILLED[start + length :])


@given(st.text(alphabet=":-[]{}#&*!|>'\"%@`,? \n\tab0.~", max_size=120))
@MANY
def test_punctuation(text: str) -> None:
    assert outcome(text)
