"""LiteLLM's table and its callbacks' payloads."""

import json
from pathlib import Path
from typing import Any

import pytest

from parsed_samples import Parsed, parsed
from vramledger.record.outcome import Outcome
from workload_log_samples import LOG_VARIANTS, LOGS, csv_of, failed_payload, payload, spend
from workload_samples import jsonl

_SECOND = 10**9


def _spend(folder: Path, **changed: Any) -> Parsed:
    return parsed(folder, "spend.csv", csv_of(spend(**changed)))


def _payload(folder: Path, *records: Any) -> Parsed:
    return parsed(folder, "payload.jsonl", jsonl(*records))


def test_a_row_of_the_table_tells_lengths_times_and_outcome(tmp_path: Path) -> None:
    found = parsed(tmp_path, *LOGS["litellm-spend"])
    first, second = found.requests
    assert (first.input_tokens, first.output_tokens) == (120, 40)
    assert (first.thinking_tokens, first.cached_tokens) == (10, 64)
    assert (first.duration_ns, first.first_token_ns) == (4 * _SECOND, _SECOND // 2)
    assert (first.outcome, first.link, first.images) == (Outcome.OK, "session-one", 1)
    assert second.arrival_ns is not None
    assert first.arrival_ns is not None
    assert second.arrival_ns - first.arrival_ns == 9_750_000_000
    assert found.problems == ["call generates no text"]


def test_a_failure_within_metadata_counts_as_one_of_its_class(tmp_path: Path) -> None:
    _, failed = parsed(tmp_path, *LOGS["litellm-spend"]).requests
    assert failed.outcome is Outcome.TIMED_OUT
    assert (failed.input_tokens, failed.output_tokens) == (None, 0)
    assert failed.input_text is not None


@pytest.mark.parametrize(
    ("empty", "tenant"),
    [
        ([], "team-one"),
        (["team_id"], "user-one"),
        (["team_id", "user"], "end-user-one"),
        (["team_id", "user", "end_user"], "hash-of-the-key"),
        (["team_id", "user", "end_user", "api_key"], None),
    ],
)
def test_the_tenant_is_the_first_that_is_filled(
    empty: list[str], tenant: str | None, tmp_path: Path
) -> None:
    (request,) = _spend(tmp_path, **dict.fromkeys(empty, "")).requests
    assert request.tenant == tenant


def test_answers_from_the_gateway_s_cache_are_kept_and_said(tmp_path: Path) -> None:
    found = _spend(tmp_path, cache_hit="True")
    assert found.requests[0].cached_tokens == found.requests[0].input_tokens == 120
    assert found.inferred == [
        (
            "Answers that the gateway took from its own cache are kept, with all of their input as "
            "cached tokens (inferred)."
        )
    ]


def test_an_answer_that_came_whole_has_no_first_token(tmp_path: Path) -> None:
    row = spend()
    (request,) = _spend(tmp_path, completionStartTime=row["endTime"]).requests
    assert request.first_token_ns is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"prompt_tokens": "many"}, "prompt_tokens is not a number"),
        ({"completion_tokens": -1}, "completion_tokens is negative"),
        ({"startTime": ""}, "startTime is missing"),
        ({"metadata": '{"status": "succ'}, "metadata is not JSON"),
    ],
)
def test_a_row_that_cannot_be_read_names_its_field(
    changed: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    assert _spend(tmp_path, **changed).problems == [reason]


def test_the_table_as_json_is_the_same(tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS["LiteLLM's table as JSON"]
    (request,) = parsed(tmp_path, name, content).requests
    assert (request.input_tokens, request.output_tokens, request.outcome) == (120, 40, Outcome.OK)


def test_an_attempt_after_a_failed_one_of_its_trace_is_its_retry(tmp_path: Path) -> None:
    first, second = parsed(tmp_path, *LOGS["litellm-payload"]).requests
    assert (first.outcome, first.retry_of) == (Outcome.REJECTED, None)
    assert (second.outcome, second.retry_of) == (Outcome.OK, "chatcmpl-payload-0")
    assert second.max_output_tokens == 512


def test_calls_of_one_trace_without_a_failure_are_no_retries(tmp_path: Path) -> None:
    requests = _payload(tmp_path, payload(), payload(id="chatcmpl-payload-2")).requests
    assert [each.retry_of for each in requests] == [None, None]
    assert {each.link for each in requests} == {"trace-one"}


def test_each_of_several_retries_follows_the_attempt_before(tmp_path: Path) -> None:
    records = [failed_payload(), failed_payload(id="chatcmpl-payload-00"), payload()]
    requests = _payload(tmp_path, *records).requests
    assert [each.retry_of for each in requests] == [
        None, "chatcmpl-payload-0", "chatcmpl-payload-00",
    ]  # fmt: skip


def test_the_response_time_of_a_stream_is_its_first_token(tmp_path: Path) -> None:
    (request,) = _payload(tmp_path, payload(completionStartTime=None)).requests
    assert (request.first_token_ns, request.duration_ns) == (_SECOND // 2, 4 * _SECOND)


def test_the_response_time_of_a_whole_answer_is_no_first_token(tmp_path: Path) -> None:
    whole = payload(stream=False, response_time=4.0)
    (request,) = _payload(tmp_path, whole).requests
    assert (request.first_token_ns, request.duration_ns) == (None, 4 * _SECOND)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ({"error_code": "429", "error_class": "RateLimitError"}, Outcome.REJECTED),
        ({"error_code": "499", "error_class": ""}, Outcome.CANCELLED),
        ({"error_code": "", "error_class": "litellm.Timeout"}, Outcome.TIMED_OUT),
        ({"error_code": None, "error_class": "ContextWindowExceededError"}, Outcome.REJECTED),
        ({"error_code": "500", "error_class": "InternalServerError"}, Outcome.FAILED),
        ({"error_code": "", "error_class": "SomethingElse"}, Outcome.FAILED),
        ({}, Outcome.FAILED),
    ],
)
def test_a_failure_is_what_its_code_or_class_says(
    error: dict[str, Any], outcome: Outcome, tmp_path: Path
) -> None:
    (request,) = _payload(tmp_path, failed_payload(error_information=error)).requests
    assert request.outcome is outcome
    given_up = request.duration_ns if outcome is Outcome.CANCELLED else None
    assert request.cancel_after_ns == given_up


def test_a_payload_within_a_callback_s_arguments_is_found(tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS["LiteLLM arguments of a callback"]
    assert parsed(tmp_path, name, content).requests[0].input_tokens == 120


def test_anthropic_s_usage_adds_what_its_cache_read(tmp_path: Path) -> None:
    usage = {"input_tokens": 20, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 10}
    record = payload(prompt_tokens=0, status="failure", metadata={"usage_object": usage})
    (request,) = _payload(tmp_path, record).requests
    assert (request.input_tokens, request.cached_tokens) == (120, 90)


def test_metadata_may_be_json_within_json(tmp_path: Path) -> None:
    record = payload(metadata=json.dumps(payload()["metadata"]))
    assert _payload(tmp_path, record).requests[0].thinking_tokens == 10
