"""What load generators and agents record of their requests: AIPerf, GuideLLM, TraceLab."""

from copy import deepcopy
from json import loads
from pathlib import Path
from typing import Any

import pytest

from parsed_samples import parsed
from vramledger.record.outcome import Outcome
from workload_samples import TRACES, jsonl

_S = 10**9
_MS = 10**6


def _first(name: str) -> dict[str, Any]:
    found: dict[str, Any] = loads(TRACES[name].content.splitlines()[0])
    return found


def _changed(record: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = deepcopy(record)
    *outer, last = path.split(".")
    place = changed
    for key in outer:
        place = place[key]
    place[last] = value
    return changed


def test_aiperf_records_tell_lengths_times_and_cancellations(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["aiperf-export"])
    first, second = found.requests
    assert first.arrival_ns == 1_759_813_207_532_900_363
    assert (first.input_tokens, first.output_tokens, first.thinking_tokens) == (550, 12, 3)
    assert first.duration_ns == 305_864_241
    assert first.first_token_ns == 255_500_000
    assert (first.outcome, first.cancel_after_ns) == (Outcome.OK, None)
    assert (first.session, first.turn, first.request_id) == ("session-a", 0, "request-a")
    assert (second.input_tokens, second.output_tokens) == (650, None)
    assert (second.outcome, second.cancel_after_ns) == (Outcome.CANCELLED, 2 * _S)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ({"code": 503, "type": "HTTPError"}, Outcome.REJECTED),
        ({"code": 500, "type": "HTTPError"}, Outcome.FAILED),
        ({"code": 200, "type": "InvalidInferenceResultError"}, Outcome.FAILED),
        ({"code": None, "type": "ReadTimeoutError"}, Outcome.TIMED_OUT),
        ({"type": "ConnectionResetError"}, Outcome.FAILED),
    ],
)
def test_aiperf_errors_become_outcomes(
    error: dict[str, object], outcome: Outcome, tmp_path: Path
) -> None:
    record = _changed(_first("aiperf-export"), "error", error)
    assert parsed(tmp_path, "records.jsonl", jsonl(record)).requests[0].outcome is outcome


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("metadata", None, "metadata is missing"),
        ("metadata.benchmark_phase", "warmup", "request of the warm-up"),
        ("metadata.request_start_ns", "x", "request_start_ns is not a number"),
        ("metadata.request_end_ns", 5, "request_end_ns is before request_start_ns"),
        (
            "metrics.reasoning_token_count.value",
            99,
            "reasoning_token_count is more than output_sequence_length",
        ),
        ("metrics.time_to_first_token.value", -1, "time_to_first_token is negative"),
    ],
)
def test_an_aiperf_record_that_is_no_request_is_named_by_its_field(
    path: str, value: object, reason: str, tmp_path: Path
) -> None:
    sound = _first("aiperf-export")
    found = parsed(tmp_path, "records.jsonl", jsonl(sound, _changed(sound, path, value)))
    assert found.problems == [reason]
    assert len(found.requests) == 1


def test_a_guidellm_report_gives_its_requests_by_how_they_ended(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["guidellm"])
    assert [each.outcome for each in found.requests] == [
        Outcome.OK, Outcome.OK, Outcome.FAILED, Outcome.INCOMPLETE
    ]  # fmt: skip
    first = found.requests[0]
    assert first.arrival_ns == 1_759_813_207 * _S + 250 * _MS
    assert (first.duration_ns, first.first_token_ns) == (1_500 * _MS, 250_250_000)
    assert (first.input_tokens, first.output_tokens, first.cached_tokens) == (128, 64, 96)
    assert (first.session, first.turn, first.request_id) == ("talk-a", 0, "request-a")
    assert [each.output_tokens for each in found.requests] == [64, 7, None, 3]


def test_a_guidellm_request_that_is_none_does_not_cost_the_others(tmp_path: Path) -> None:
    report = loads(TRACES["guidellm"].content)
    groups = report["benchmarks"][0]["requests"]
    groups["errored"].append("not a request")
    groups["successful"][0]["info"]["status"] = "cancelled"
    groups["successful"][1]["cached_tokens"] = 5000
    found = parsed(tmp_path, "benchmarks.json", jsonl(report))
    assert found.problems == ["cached_tokens is more than prompt_tokens", "info is missing"]
    assert [each.outcome for each in found.requests] == [
        Outcome.CANCELLED, Outcome.FAILED, Outcome.INCOMPLETE
    ]  # fmt: skip


def test_a_tracelab_round_arrives_at_its_last_input_and_ends_with_its_last_event(
    tmp_path: Path,
) -> None:
    found = parsed(tmp_path, *TRACES["tracelab"])
    first, second = found.requests
    assert first.arrival_ns == 1_780_292_421 * _S + 151 * _MS  # 2026-06-01 05:40:21.151 UTC
    assert first.duration_ns == 10_496 * _MS
    assert (first.input_tokens, first.cached_tokens) == (32272, 27217)
    assert (first.output_tokens, first.thinking_tokens) == (931, None)
    assert second.thinking_tokens == 31
    assert first.session == second.session == "claude:session-a"
    assert (first.turn, second.turn) == (0, 1)
    assert (first.tenant, first.model) == ("user_a", "opus-sample")


def test_a_tracelab_round_without_inputs_arrives_with_its_first_event(tmp_path: Path) -> None:
    events = [
        {"event_type": "text", "timestamp": "2026-06-01T05:40:30Z"},
        {"event_type": "usage_report", "timestamp": "2026-06-01T05:40:32Z"},
    ]
    record = _changed(_first("tracelab"), "timing_events", events)
    (only,) = parsed(tmp_path, "rounds.jsonl", jsonl(record)).requests
    assert only.arrival_ns == 1_780_292_430 * _S
    assert only.duration_ns == 2 * _S


def test_an_input_after_the_models_first_event_does_not_move_the_arrival(tmp_path: Path) -> None:
    events = [
        {"event_type": "user_message", "timestamp": "2026-06-01T05:40:30Z"},
        {"event_type": "text", "timestamp": "2026-06-01T05:40:31Z"},
        {"event_type": "user_message", "timestamp": "2026-06-01T05:40:33Z"},
    ]
    record = _changed(_first("tracelab"), "timing_events", events)
    (only,) = parsed(tmp_path, "rounds.jsonl", jsonl(record)).requests
    assert only.arrival_ns == 1_780_292_430 * _S
    assert only.duration_ns == 1 * _S


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("timing_events", [], "timing_events is missing"),
        ("timing_events", ["x"], "timing_events holds something that is no event"),
        ("prefix_tokens", 99_999, "prefix_tokens is more than input_tokens_total"),
        ("reasoning_output_tokens", 9_999, "reasoning_output_tokens is more than output_tokens"),
        ("output_tokens", None, "output_tokens is missing"),
    ],
)
def test_a_tracelab_round_that_is_no_request_is_named_by_its_field(
    path: str, value: object, reason: str, tmp_path: Path
) -> None:
    sound = _first("tracelab")
    found = parsed(tmp_path, "rounds.jsonl", jsonl(sound, _changed(sound, path, value)))
    assert found.problems == [reason]
    assert len(found.requests) == 1
