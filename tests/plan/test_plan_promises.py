"""What a plan promises, by its text alone."""

from pathlib import Path

import pytest

from vramledger.errors import BadInput
from vramledger.plan.promises import promises
from vramledger.plan.read import parse_plan
from vramledger.plan.requirement import Contract, LatencyLimit

HEAD = "name: p\nmodel: Qwen/Qwen3-8B\n"


def test_the_contracts_are_those_of_the_whole_reading() -> None:
    text = HEAD + (
        "workload: {profile: chat, concurrent: 4}\nscenarios:\n"
        "  day: {kind: latency, contract: {ttft_s: [{input_max: 8000, p95: 2}, {p95: 8}], success: 0.99}}\n"
        "  night: {kind: throughput, contract: {done_by: '06:00'}}\n"
    )
    whole = {each.name: each.contract for each in parse_plan(text).scenarios}
    assert promises(text) == whole
    assert whole["day"].latency["ttft_s"] == (
        LatencyLimit(8000, {0.95: 2.0}),
        LatencyLimit(None, {0.95: 8.0}),
    )


def test_no_file_is_opened(tmp_path: Path) -> None:
    text = HEAD + f"workload: {{file: {tmp_path / 'absent.parquet'}}}\n"
    assert promises(text) == {"all": Contract()}
    with pytest.raises(BadInput, match=r"absent\.parquet cannot be read"):
        parse_plan(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "p.yaml is not a plan: it holds no keys at its top."),
        ("name: p\nmodel: m\n", "p.yaml line 1: the plan lacks the key 'workload'; add it."),
        (
            HEAD + "workload: {profile: chat}\nscenarios: {a: {kind: latency, contract: {done_by: '06:00'}}}\n",
            ("p.yaml line 4: done_by has no meaning for a scenario of kind latency; give queue_s or e2e_s, or make it one of "
            "kind throughput."),
        ),
    ],
)  # fmt: skip
def test_what_is_no_plan(text: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        promises(text, "p.yaml")
    assert str(refused.value) == why
