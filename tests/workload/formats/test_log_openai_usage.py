"""OpenAI's usage: totals by bucket, from which only rates and means follow."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsed_samples import parsed
from vramledger.workload.formats.format import Context, Framing, Head, Record
from vramledger.workload.formats.openai_usage import FORMAT
from workload_log_samples import LOG_VARIANTS, LOGS, USAGE_PAGE


def test_a_bucket_is_that_many_equal_requests_over_its_time(tmp_path: Path) -> None:
    found = parsed(tmp_path, *LOGS["openai-usage"])
    (request,) = found.requests
    assert (request.repeat, request.spread_ns) == (10, 60 * 10**9)
    assert request.arrival_ns == 1_772_442_000 * 10**9
    assert (request.input_tokens, request.input_remainder) == (100, 1)
    assert (request.output_tokens, request.output_remainder) == (50, 2)
    assert request.cached_tokens == 30
    assert found.problems == ["bucket holds no requests"]
    assert found.inferred == [
        (
            "The log holds totals by bucket: requests are spread evenly over each bucket and all have "
            "its mean lengths, so that rates and means are the log's and every percentile is not "
            "(inferred)."
        )
    ]


@pytest.mark.parametrize("batch", [True, False, None])
def test_buckets_of_the_batch_api_are_kept_and_said(*, batch: bool | None, tmp_path: Path) -> None:
    page = copy.deepcopy(USAGE_PAGE)
    page["data"][0]["results"][0]["batch"] = batch
    found = parsed(tmp_path, "usage.json", json.dumps(page).encode())
    assert found.requests[0].repeat == 10
    said = (
        "Some buckets are of the Batch API, whose requests nobody waits for; they stand among the others, "
        "as evenly spread (inferred)."
    )
    assert (said in found.inferred) is (batch is True)


def test_a_bucket_a_line_is_the_same(tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS["one bucket of usage a line"]
    assert parsed(tmp_path, name, content).requests[0].repeat == 10


@given(requests=st.integers(1, 10**7), inputs=st.integers(0, 10**9), outputs=st.integers(0, 10**9))
def test_the_requests_of_a_bucket_hold_its_tokens_exactly(
    requests: int, inputs: int, outputs: int
) -> None:
    result = {
        "num_model_requests": requests,
        "input_tokens": inputs,
        "output_tokens": outputs,
    }
    bucket = {"start_time": 0, "end_time": 60, "results": [result]}
    (row,) = FORMAT.rows_of(Record(1, bucket))
    (found,) = FORMAT.parser(Context(Head(Framing.JSONL))).parse(row)
    assert found.input_tokens is not None
    assert found.output_tokens is not None
    assert found.input_tokens * found.repeat + found.input_remainder == inputs
    assert found.output_tokens * found.repeat + found.output_remainder == outputs
    assert max(found.input_remainder, found.output_remainder) < found.repeat


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"num_model_requests": 0}, "bucket holds no requests"),
        ({"num_model_requests": "ten"}, "num_model_requests is not a number"),
        ({"input_tokens": -5}, "input_tokens is negative"),
        ({"output_tokens": 1.5}, "output_tokens is not a whole number"),
    ],
)
def test_a_result_that_cannot_be_read_names_its_field(
    changed: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    page = copy.deepcopy(USAGE_PAGE)
    page["data"] = page["data"][:1]
    page["data"][0]["results"].append(page["data"][0]["results"][0] | changed)
    found = parsed(tmp_path, "usage.json", json.dumps(page).encode())
    assert (len(found.requests), found.problems) == (1, [reason])


def test_usage_of_another_kind_is_dropped(tmp_path: Path) -> None:
    page = copy.deepcopy(USAGE_PAGE)
    page["data"][1]["results"] = [{"object": "organization.costs.result", "amount": 1}]
    found = parsed(tmp_path, "usage.json", json.dumps(page).encode())
    assert found.problems == ["bucket is of another kind of usage"]
