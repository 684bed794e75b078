"""OpenTelemetry spans, Langfuse's generations, SageMaker's captures."""

import json
from pathlib import Path
from typing import Any

import pytest

from parsed_samples import parsed
from vramledger.record.outcome import Outcome
from workload_log_samples import (
    GEN_AI,
    LOG_VARIANTS,
    LOGS,
    VLLM_SPAN,
    captured,
    export,
    generation,
    span,
)
from workload_samples import jsonl

_SECOND = 10**9


def test_a_span_of_a_model_call_is_a_request(tmp_path: Path) -> None:
    found = parsed(tmp_path, *LOGS["otel"])
    first, second = found.requests
    assert first.arrival_ns == 1_772_442_000_250_000_123
    assert (first.input_tokens, first.output_tokens) == (120, 40)
    assert (first.thinking_tokens, first.cached_tokens, first.max_output_tokens) == (10, 64, 512)
    assert (first.duration_ns, first.first_token_ns) == (4 * _SECOND, _SECOND // 2)
    assert (first.session, first.outcome) == ("conversation-one", Outcome.OK)
    assert first.input_text == "user\nWhat is this?"
    assert (second.input_tokens, second.output_tokens, second.max_output_tokens) == (9, 7, 64)
    assert second.first_token_ns == 50_000_000
    assert found.problems == ["span is no call of a model"]


def test_a_call_that_two_spans_tell_counts_once(tmp_path: Path) -> None:
    usage = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 100}
    outer, inner, other = (
        span("chat", {**usage, "gen_ai.usage.output_tokens": n}) for n in (9, 10, 11)
    )
    outer |= {"traceId": "t", "spanId": "outer", "parentSpanId": "agent"}
    inner |= {"traceId": "t", "spanId": "inner", "parentSpanId": "outer"}
    other |= {"traceId": "u", "spanId": "outer"}
    found = parsed(tmp_path, "spans.jsonl", jsonl(export(outer, inner, other)))
    assert [request.output_tokens for request in found.requests] == [10, 11]
    assert found.problems == ["span of a call that another span tells too"]


def test_one_export_a_line_is_the_same(tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS["OTLP lines"]
    assert parsed(tmp_path, name, content).requests[0].input_tokens == 120


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        (
            {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "m"},
            "span generates no text",
        ),
        ({"gen_ai.operation.name": "execute_tool"}, "span generates no text"),
        (
            {"traceloop.span.kind": "workflow", "gen_ai.request.model": "m"},
            "span generates no text",
        ),
        ({"db.system": "postgresql"}, "span is no call of a model"),
    ],
)
def test_other_spans_are_dropped_each_by_its_reason(
    attributes: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    record = export(span("a", GEN_AI), span("b", attributes))
    found = parsed(tmp_path, "spans.jsonl", jsonl(record))
    assert (len(found.requests), found.problems) == (1, [problem])


@pytest.mark.parametrize(
    ("names", "requests"),
    [
        (("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"), 1),
        (("llm.usage.prompt_tokens", "llm.usage.completion_tokens"), 1),
        (("llm.token_count.prompt", "llm.token_count.completion"), 1),
    ],
)
def test_older_names_of_token_counts_are_read(
    names: tuple[str, str], requests: int, tmp_path: Path
) -> None:
    record = export(span("llm", {names[0]: 11, names[1]: 7}))
    found = parsed(tmp_path, "spans.jsonl", jsonl(record)).requests
    assert len(found) == requests
    assert (found[0].input_tokens, found[0].output_tokens) == (11, 7)


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("429", Outcome.REJECTED),
        ("timeout", Outcome.TIMED_OUT),
        ("openai.RateLimitError", Outcome.REJECTED),
        ("asyncio.CancelledError", Outcome.CANCELLED),
        ("_OTHER", Outcome.FAILED),
    ],
)
def test_an_error_is_what_its_type_says(kind: str, outcome: Outcome, tmp_path: Path) -> None:
    failed = span("chat", VLLM_SPAN | {"error.type": kind}, status={"code": 2, "message": "oh"})
    (request,) = parsed(tmp_path, "spans.jsonl", jsonl(export(failed))).requests
    assert request.outcome is outcome


def test_an_error_without_a_type_failed(tmp_path: Path) -> None:
    failed = span("chat", VLLM_SPAN, status={"code": "STATUS_CODE_ERROR"})
    (request,) = parsed(tmp_path, "spans.jsonl", jsonl(export(failed))).requests
    assert request.outcome is Outcome.FAILED


def test_a_span_as_the_console_prints_it_is_read(tmp_path: Path) -> None:
    record = {
        "name": "chat",
        "context": {"trace_id": "0x01", "span_id": "0x02"},
        "start_time": "2026-03-02T09:00:00.250000Z",
        "end_time": "2026-03-02T09:00:04.250000Z",
        "status": {"status_code": "UNSET"},
        "attributes": GEN_AI,
    }
    (request,) = parsed(tmp_path, "spans.jsonl", jsonl(record)).requests
    assert (request.duration_ns, request.input_tokens) == (4 * _SECOND, 120)


def test_a_generation_adds_up_its_disjoint_counts(tmp_path: Path) -> None:
    found = parsed(tmp_path, *LOGS["langfuse"])
    first, failed = found.requests
    assert (first.input_tokens, first.cached_tokens) == (120, 64)
    assert (first.output_tokens, first.thinking_tokens) == (40, 10)
    assert (first.duration_ns, first.first_token_ns) == (4 * _SECOND, _SECOND // 2)
    assert (first.max_output_tokens, first.images, first.outcome) == (512, 1, Outcome.OK)
    assert (failed.outcome, failed.input_tokens) == (Outcome.FAILED, None)
    assert found.problems == ["observation is no generation"]


@pytest.mark.parametrize("label", ["Langfuse CSV export", "Langfuse blob storage"])
def test_every_spelling_of_langfuse_s_fields_is_the_same(label: str, tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS[label]
    (request,) = parsed(tmp_path, name, content).requests
    assert (request.input_tokens, request.output_tokens) == (120, 40)
    assert (request.duration_ns, request.first_token_ns) == (4 * _SECOND, _SECOND // 2)
    assert (request.session, request.tenant) == ("session-one", "user-one")


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"usageDetails": None, "usage": {"input": 5, "output": 3, "unit": "TOKENS"}}, (5, 3)),
        ({"usageDetails": None, "usage": {"promptTokens": 5, "completionTokens": 3}}, (5, 3)),
        ({"usageDetails": None, "usage": {"input": 5, "unit": "CHARACTERS"}}, (None, None)),
        ({"usageDetails": {"prompt_tokens": 5, "completion_tokens": 3}}, (5, 3)),
        ({"usageDetails": {"input": 1, "input_cache_read": 4, "output": 3}}, (5, 3)),
        ({"usageDetails": {"total": 8}}, (None, None)),
    ],
)
def test_usage_of_older_and_other_kinds_is_read(
    usage: dict[str, Any], tokens: tuple[int | None, int | None], tmp_path: Path
) -> None:
    (request,) = parsed(tmp_path, "g.jsonl", jsonl(generation(**usage))).requests
    assert (request.input_tokens, request.output_tokens) == tokens


def test_a_capture_has_the_tokens_of_its_answer_s_usage_or_its_texts(tmp_path: Path) -> None:
    found = parsed(tmp_path, *LOGS["sagemaker"])
    first, second = found.requests
    assert (first.input_tokens, first.output_tokens, first.max_output_tokens) == (120, 40, 512)
    assert (second.input_tokens, second.input_text) == (None, "Tell me a tale.")
    assert (second.output_text, second.max_output_tokens) == ("Once upon a time.", 64)
    assert set(found.assumed) == {
        "inferenceTime, in whole seconds, is taken as the arrival (assumed)."
    }


def test_a_captured_stream_is_joined(tmp_path: Path) -> None:
    pieces = [
        {"choices": [{"delta": {"content": "A red "}}]},
        {"choices": [{"delta": {"content": "bicycle."}}]},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
    ]
    stream = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n"
    record = captured({"prompt": "What is it?"}, stream)
    (request,) = parsed(tmp_path, "capture.jsonl", jsonl(record)).requests
    assert request.output_text == "A red bicycle."
    assert (request.input_tokens, request.output_tokens) == (9, 4)


def test_captures_that_cannot_be_read_are_dropped(tmp_path: Path) -> None:
    broken = captured({"prompt": "x"}, "")
    broken["captureData"]["endpointInput"] |= {"encoding": "BASE64", "data": "%%%"}
    table = captured({"features": [1, 2]}, "0.7")
    found = parsed(tmp_path, "capture.jsonl", jsonl(broken, table))
    assert found.problems == [
        "endpointInput is not base64 of text", "captured input is no prompt",
    ]  # fmt: skip
