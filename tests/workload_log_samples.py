"""One small file of each format of production logs, written from the formats' own documents.

`LOGS` has one a format; `LOG_VARIANTS` further shapes of the same formats. Every name, address and text in
them is invented.
"""

import base64
import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from workload_samples import Sample, Variant, jsonl

_MESSAGES = [
    {"role": "system", "content": "You answer in one line."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "What does this picture show?"},
            {"type": "image_url", "image_url": {"url": "https://pictures.example/one.png"}},
        ],
    },
]
_ANSWER = {"choices": [{"message": {"role": "assistant", "content": "A red bicycle."}}]}


def csv_of(*records: Mapping[str, Any]) -> bytes:
    """Rows under the header of the first, as a database exports them."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return sink.getvalue().encode()


def spend(**changed: Any) -> dict[str, Any]:
    """A row of LiteLLM's table."""
    metadata = {
        "user_api_key_alias": "alias-of-the-key",
        "status": "success",
        "usage_object": {
            "prompt_tokens": 120,
            "completion_tokens": 40,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 10},
        },
    }
    return {
        "request_id": "chatcmpl-spend-1",
        "call_type": "acompletion",
        "api_key": "hash-of-the-key",
        "spend": 0.0012,
        "total_tokens": 160,
        "prompt_tokens": 120,
        "completion_tokens": 40,
        "startTime": "2026-03-02 09:00:00.250",
        "endTime": "2026-03-02 09:00:04.250",
        "completionStartTime": "2026-03-02 09:00:00.750",
        "model": "openai/small-model",
        "model_id": "deployment-1",
        "model_group": "small",
        "custom_llm_provider": "openai",
        "api_base": "https://models.example/v1",
        "user": "user-one",
        "metadata": json.dumps(metadata),
        "cache_hit": "False",
        "cache_key": "Cache OFF",
        "request_tags": '["tag-one"]',
        "team_id": "team-one",
        "end_user": "end-user-one",
        "requester_ip_address": "192.0.2.7",
        "messages": json.dumps(_MESSAGES),
        "response": json.dumps(_ANSWER),
        "session_id": "session-one",
        "status": "success",
    } | changed


def payload(**changed: Any) -> dict[str, Any]:
    """One call as LiteLLM's callbacks log it."""
    return {
        "id": "chatcmpl-payload-1",
        "trace_id": "trace-one",
        "call_type": "acompletion",
        "stream": True,
        "response_cost": 0.0012,
        "status": "success",
        "custom_llm_provider": "openai",
        "total_tokens": 160,
        "prompt_tokens": 120,
        "completion_tokens": 40,
        "startTime": 1772442000.25,
        "endTime": 1772442004.25,
        "completionStartTime": 1772442000.75,
        "response_time": 0.5,
        "model": "openai/small-model",
        "model_id": "deployment-1",
        "model_group": "small",
        "api_base": "https://models.example/v1",
        "metadata": {
            "user_api_key_hash": "hash-of-the-key",
            "user_api_key_alias": "alias-of-the-key",
            "user_api_key_team_id": "team-one",
            "user_api_key_user_id": "user-one",
            "requester_ip_address": "192.0.2.7",
            "usage_object": {
                "prompt_tokens": 120,
                "completion_tokens": 40,
                "completion_tokens_details": {"reasoning_tokens": 10},
                "prompt_tokens_details": {"cached_tokens": 64},
            },
        },
        "cache_hit": None,
        "cache_key": None,
        "request_tags": ["tag-one"],
        "end_user": "end-user-one",
        "requester_ip_address": "192.0.2.7",
        "messages": _MESSAGES,
        "response": _ANSWER,
        "error_str": None,
        "error_information": None,
        "model_parameters": {"max_tokens": 512, "temperature": 0.2, "stop": ["###"]},
        "hidden_params": {"model_id": "deployment-1", "additional_headers": {}},
    } | changed


def failed_payload(**changed: Any) -> dict[str, Any]:
    """A call that its provider refused."""
    refused = {
        "id": "chatcmpl-payload-0",
        "status": "failure",
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "startTime": 1772441999.25,
        "endTime": 1772441999.5,
        "completionStartTime": 1772441999.5,
        "metadata": {"user_api_key_team_id": "team-one", "usage_object": None},
        "response": None,
        "error_str": "Too many requests from this address.",
        "error_information": {
            "error_code": "429",
            "error_class": "RateLimitError",
            "llm_provider": "openai",
            "error_message": "Too many requests from this address.",
        },
    }
    return payload(**refused | changed)


USAGE_PAGE: dict[str, Any] = {
    "object": "page",
    "data": [
        {
            "object": "bucket",
            "start_time": 1772442000,
            "end_time": 1772442060,
            "results": [
                {
                    "object": "organization.usage.completions.result",
                    "input_tokens": 1001,
                    "output_tokens": 502,
                    "input_cached_tokens": 300,
                    "input_audio_tokens": 0,
                    "output_audio_tokens": 0,
                    "num_model_requests": 10,
                    "project_id": "project-one",
                    "user_id": "user-one",
                    "api_key_id": "key-one",
                    "model": "small-model",
                    "batch": False,
                    "service_tier": "default",
                }
            ],
        },
        {"object": "bucket", "start_time": 1772442060, "end_time": 1772442120, "results": []},
    ],
    "has_more": False,
    "next_page": None,
}


def generation(**changed: Any) -> dict[str, Any]:
    """A generation as Langfuse's API and JSON export have it."""
    return {
        "id": "observation-one",
        "traceId": "trace-one",
        "type": "GENERATION",
        "name": "answer",
        "startTime": "2026-03-02T09:00:00.250Z",
        "endTime": "2026-03-02T09:00:04.250Z",
        "completionStartTime": "2026-03-02T09:00:00.750Z",
        "model": "small-model",
        "modelParameters": {"max_tokens": 512, "temperature": "0.2"},
        "input": {"messages": _MESSAGES},
        "output": {"role": "assistant", "content": "A red bicycle."},
        "usageDetails": {
            "input": 56,
            "input_cached_tokens": 64,
            "output": 30,
            "output_reasoning_tokens": 10,
            "total": 160,
        },
        "level": "DEFAULT",
        "statusMessage": "all is well with user-one",
        "parentObservationId": "observation-zero",
        "sessionId": "session-one",
        "userId": "user-one",
        "metadata": {"tag": "tag-one"},
        "environment": "production",
    } | changed


def captured(sent: Mapping[str, Any], answered: str, encoding: str = "JSON") -> dict[str, Any]:
    """One call as SageMaker captures it."""
    text = json.dumps(sent)

    def kept(data: str) -> str:
        return base64.b64encode(data.encode()).decode() if encoding == "BASE64" else data

    return {
        "captureData": {
            "endpointInput": {
                "observedContentType": "application/json",
                "mode": "INPUT",
                "data": kept(text),
                "encoding": encoding,
            },
            "endpointOutput": {
                "observedContentType": "application/json",
                "mode": "OUTPUT",
                "data": kept(answered),
                "encoding": encoding,
            },
        },
        "eventMetadata": {
            "eventId": "event-one",
            "inferenceTime": "2026-03-02T09:00:00Z",
            "customAttributes": ["attribute-one"],
        },
        "eventVersion": "0",
    }


_CHAT = {"model": "small-model", "messages": _MESSAGES, "max_tokens": 512, "user": "user-one"}
_USAGE = {"prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160}


def span(name: str, attributes: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """A span of OTLP, its attributes typed by their Python type."""
    kinds = {str: "stringValue", bool: "boolValue", int: "intValue", float: "doubleValue"}
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "parentSpanId": "eee19b7ec3c1b173",
        "name": name,
        "kind": 3,
        "startTimeUnixNano": "1772442000250000123",
        "endTimeUnixNano": "1772442004250000123",
        "attributes": [
            {
                "key": key,
                "value": {kinds[type(value)]: str(value) if type(value) is int else value},
            }
            for key, value in attributes.items()
        ],
        "status": {},
    } | changed


def export(*spans: Mapping[str, Any]) -> dict[str, Any]:
    """What an exporter sends at once."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "service-one"}}]}
    return {
        "resourceSpans": [
            {
                "resource": resource,
                "scopeSpans": [{"scope": {"name": "vllm.llm_engine"}, "spans": list(spans)}],
            }
        ]
    }


GEN_AI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "small-model",
    "gen_ai.request.max_tokens": 512,
    "gen_ai.usage.input_tokens": 120,
    "gen_ai.usage.output_tokens": 40,
    "gen_ai.usage.reasoning.output_tokens": 10,
    "gen_ai.usage.cache_read.input_tokens": 64,
    "gen_ai.latency.time_to_first_token": 0.5,
    "gen_ai.conversation.id": "conversation-one",
    "user.id": "user-one",
    "gen_ai.input.messages": json.dumps(
        [{"role": "user", "parts": [{"type": "text", "content": "What is this?"}]}]
    ),
}
VLLM_SPAN = {
    "gen_ai.request.id": "cmpl-one",
    "gen_ai.request.temperature": 0.2,
    "gen_ai.request.max_tokens": 64,
    "gen_ai.usage.prompt_tokens": 9,
    "gen_ai.usage.completion_tokens": 7,
    "gen_ai.latency.time_in_queue": 0.01,
    "gen_ai.latency.time_to_first_token": 0.05,
    "gen_ai.latency.e2e": 0.2,
}

NGINX = (
    b'192.0.2.7 - user-one [02/Mar/2026:09:00:04 +0000] "POST /v1/chat/completions HTTP/1.1" 200 512 '
    b'"https://page.example/" "client/1.0" rt=4.250 uct="0.000" uht="0.010" urt="4.249"\n'
    b'192.0.2.8 - - [02/Mar/2026:09:00:06 +0000] "POST /v1/completions?debug=1 HTTP/1.1" 499 0 '
    b'"-" "client \\"two\\"" rt=1.500 uct="-" uht="-" urt="-"\n'
    b'192.0.2.9 - - [02/Mar/2026:09:00:07 +0000] "GET /health HTTP/1.1" 200 2 '
    b'"-" "probe" rt=0.001 uct="0.000" uht="0.001" urt="0.001"\n'
)

ENVOY = (
    b'[2026-03-02T09:00:00.250Z] "POST /v1/chat/completions HTTP/1.1" 200 - 154 512 4000 12 '
    b'"192.0.2.7,10.0.0.1" "client/1.0" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "models.example" '
    b'"10.0.0.2:8000"\n'
    b'[2026-03-02T09:00:05.250Z] "POST /v1/chat/completions HTTP/2" 200 DC 154 96 1500 12 '
    b'"-" "client/1.0" "2b1f1d2e-0000-4000-8000-000000000001" "models.example" "10.0.0.2:8000"\n'
    b'[2026-03-02T09:00:06.250Z] "POST /v1/chat/completions HTTP/2" 504 UT 154 24 15000 - '
    b'"-" "client/1.0" "2b1f1d2e-0000-4000-8000-000000000002" "models.example" "10.0.0.2:8000"\n'
    b'[2026-03-02T09:00:07.250Z] "GET /v1/models HTTP/1.1" 200 - 0 96 1 1 '
    b'"-" "client/1.0" "2b1f1d2e-0000-4000-8000-000000000003" "models.example" "10.0.0.2:8000"\n'
)

_PARAMS = (
    "SamplingParams(n=1, presence_penalty=0.0, frequency_penalty=0.0, repetition_penalty=1.0, "
    "temperature=0.7, top_p=1.0, top_k=0, min_p=0.0, seed=None, stop=['max_tokens=3'], "
    "stop_token_ids=[], bad_words=[], include_stop_str_in_output=False, ignore_eos=False, "
    "max_tokens={limit}, min_tokens=0, logprobs=None, prompt_logprobs=None, "
    "skip_special_tokens=True, spaces_between_special_tokens=True, truncate_prompt_tokens=None)"
)


def vllm_received(identity: str, prompt: str, ids: str, limit: int, at: str) -> str:
    """The line of a request, as versions from 0.8 to 0.11 write it."""
    return (
        f"INFO {at} [logger.py:43] Received request {identity}: prompt: {prompt!r}, "
        f"params: {_PARAMS.format(limit=limit)}, prompt_token_ids: {ids}, "
        "prompt_embeds shape: None, lora_request: None."
    )


VLLM_LOG = "\n".join(
    (
        "INFO 12-31 23:59:40 [api_server.py:1234] vLLM API server version 0.10.0",
        "INFO:     Application startup complete.",
        vllm_received(
            "chatcmpl-one", "A 'prompt', params: SamplingParams(max_tokens=9)", "[1, 2, 3]", 64,
            "12-31 23:59:50",
        ),
        "INFO 12-31 23:59:50 [async_llm.py:270] Added request chatcmpl-one.",
        vllm_received("chatcmpl-two", "It's \"two\"", "None", 32, "12-31 23:59:58"),
        ("INFO 01-01 00:00:02 [logger.py:62] Generated response chatcmpl-one (streaming complete): "
        "output: 'An answer.', output_token_ids: [7, 8, 9, 10], finish_reason: stop"),
        'INFO:     192.0.2.7:54920 - "POST /v1/chat/completions HTTP/1.1" 200 OK',
        "INFO 01-01 00:00:04 [async_llm.py:431] Request chatcmpl-two aborted.",
        ("INFO 01-01 00:00:05 [loggers.py:118] Engine 000: Avg prompt throughput: 1.0 tokens/s, "
        "Avg generation throughput: 2.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache "
        "usage: 0.0%, Prefix cache hit rate: 0.0%"),
        "",
    )
).encode()  # fmt: skip

LOGS = {
    "litellm-spend": Sample(
        "spend.csv",
        csv_of(
            spend(),
            spend(
                request_id="chatcmpl-spend-2",
                call_type="",
                status="failure",
                prompt_tokens=0,
                completion_tokens=0,
                metadata=json.dumps(
                    {
                        "status": "failure",
                        "error_information": {
                            "error_code": "",
                            "error_class": "Timeout",
                            "error_message": "the server of user-one took too long",
                        },
                    }
                ),
                startTime="2026-03-02 09:00:10.000",
                endTime="2026-03-02 09:10:10.000",
                completionStartTime="",
                response="{}",
            ),
            spend(request_id="embedding-1", call_type="aembedding"),
        ),
    ),
    "litellm-payload": Sample("payload.jsonl", jsonl(failed_payload(), payload())),
    "openai-usage": Sample("usage.json", json.dumps(USAGE_PAGE, indent=2).encode()),
    "langfuse": Sample(
        "observations.jsonl",
        jsonl(
            generation(),
            generation(id="observation-two", type="SPAN"),
            generation(id="observation-three", level="ERROR", usageDetails={}),
        ),
    ),
    "sagemaker": Sample(
        "capture.jsonl",
        jsonl(
            captured(_CHAT, json.dumps(_ANSWER | {"usage": _USAGE})),
            captured(
                {"inputs": "Tell me a tale.", "parameters": {"max_new_tokens": 64}},
                json.dumps([{"generated_text": "Once upon a time."}]),
                "BASE64",
            )
            | {"eventMetadata": {"eventId": "event-two", "inferenceTime": "2026-03-02T09:00:05Z"}},
        ),
    ),
    "otel": Sample(
        "spans.json",
        json.dumps(
            export(
                span("chat small-model", GEN_AI),
                span("llm_request", VLLM_SPAN, spanId="eee19b7ec3c1b175"),
                span("GET /", {"http.request.method": "GET"}, spanId="eee19b7ec3c1b176"),
            )
        ).encode(),
    ),
    "envoy": Sample("envoy.log", ENVOY),
    "nginx": Sample("access.log", NGINX),
    "vllm-log": Sample("vllm.log", VLLM_LOG),
}

_NGINX_JSON = {
    "time_iso8601": "2026-03-02T09:00:04+00:00",
    "msec": "1772442004.500",
    "remote_addr": "192.0.2.7",
    "remote_user": "",
    "request_method": "POST",
    "request_uri": "/v1/chat/completions",
    "status": "200",
    "request_time": "4.250",
    "upstream_response_time": "4.249",
    "upstream_header_time": "0.010",
    "http_user_agent": "client/1.0",
    "request_id": "b7f1d7c0e7a44b8a9f0c5a0a7b1e2f3d",
}
_ENVOY_JSON = {
    "start_time": "2026-03-02T09:00:00.250Z",
    "method": "POST",
    "path": "/v1/chat/completions",
    "protocol": "HTTP/1.1",
    "response_code": 200,
    "response_flags": "UC",
    "bytes_received": 154,
    "bytes_sent": 512,
    "duration": 4000,
    "upstream_service_time": "12",
    "x_forwarded_for": "192.0.2.7",
    "user_agent": "client/1.0",
    "request_id": "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2",
    "authority": "models.example",
    "upstream_host": "10.0.0.2:8000",
    "upstream_cluster": "outbound|8000||models.default.svc.cluster.local",
}
ISTIO = (
    b'[2026-03-02T09:00:00.250Z] "POST /v1/chat/completions HTTP/1.1" 503 UO overflow - "-" 154 81 2 - '
    b'"192.0.2.7" "client/1.0" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "models.example" "-" '
    b"outbound|8000||models.default.svc.cluster.local - 10.0.0.3:8000 10.0.0.4:40000 - default\n"
)
VLLM_STATISTICS = b"\n".join(
    (
        (
            b"\x1b[1;36m(APIServer pid=7)\x1b[0;0m INFO 03-02 09:00:00 [loggers.py:123] Engine 000: Avg prompt "
            b"throughput: 3.0 tokens/s, Avg generation throughput: 9.0 tokens/s, Running: 2 reqs, Waiting: 0 "
            b"reqs, GPU KV cache usage: 1.0%, Prefix cache hit rate: 0.0%"
        ),
        b'\x1b[1;36m(APIServer pid=7)\x1b[0;0m INFO:     192.0.2.7:53090 - "POST /v1/completions HTTP/1.1" 200 OK',
        b'\x1b[1;36m(APIServer pid=7)\x1b[0;0m INFO:     192.0.2.7:53091 - "GET /metrics HTTP/1.1" 200 OK',
        b'\x1b[1;36m(APIServer pid=7)\x1b[0;0m INFO:     192.0.2.7:53092 - "POST /v1/completions HTTP/1.1" 200 OK',
        b'INFO:     192.0.2.7:53093 - "POST /v1/completions HTTP/1.1" 400 Bad Request',
        b'INFO:     192.0.2.7:53094 - "POST /v1/completions HTTP/1.1" 200 OK',
        (
            b"INFO 03-02 09:00:10 [loggers.py:123] Engine 000: Avg prompt throughput: 10.1 tokens/s, Avg "
            b"generation throughput: 20.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%"
        ),
        b"",
    )
)
_NESTED = {"kwargs": {"model": "small"}, "standard_logging_object": payload()}
LOG_VARIANTS = {
    "LiteLLM's table as JSON": Variant(
        "litellm-spend", "spend.json", json.dumps([spend(metadata={"status": "success"})]).encode()
    ),
    "LiteLLM payloads in an array": Variant(
        "litellm-payload", "payloads.json", json.dumps([payload()]).encode()
    ),
    "LiteLLM arguments of a callback": Variant("litellm-payload", "callback.jsonl", jsonl(_NESTED)),
    "one bucket of usage a line": Variant(
        "openai-usage", "buckets.jsonl", jsonl(USAGE_PAGE["data"][0])
    ),
    "Langfuse CSV export": Variant(
        "langfuse",
        "export.csv",
        csv_of(
            {
                "id": "observation-one",
                "traceId": "trace-one",
                "traceName": "answering",
                "type": "GENERATION",
                "startTime": "2026-03-02T09:00:00.250Z",
                "endTime": "",
                "latency": 4,
                "timeToFirstToken": 0.5,
                "level": "DEFAULT",
                "statusMessage": "",
                "providedModelName": "small-model",
                "inputUsage": 120,
                "outputUsage": 40,
                "totalUsage": 160,
                "input": json.dumps(_MESSAGES),
                "output": "A red bicycle.",
                "sessionId": "session-one",
                "userId": "user-one",
            }
        ),
    ),
    "Langfuse blob storage": Variant(
        "langfuse",
        "observations_v2.jsonl",
        jsonl(
            {
                "id": "observation-one",
                "trace_id": "trace-one",
                "type": "GENERATION",
                "start_time": "2026-03-02 09:00:00.250000",
                "end_time": "2026-03-02 09:00:04.250000",
                "completion_start_time": "2026-03-02 09:00:00.750000",
                "level": "DEFAULT",
                "provided_model_name": "small-model",
                "usage_details": {"input": 120, "output": 40, "total": 160},
                "session_id": "session-one",
                "user_id": "user-one",
            }
        ),
    ),
    "OTLP lines": Variant("otel", "spans.jsonl", jsonl(export(span("chat small-model", GEN_AI)))),
    "Envoy JSON": Variant("envoy", "envoy.jsonl", jsonl(_ENVOY_JSON)),
    "Istio": Variant("envoy", "istio.log", ISTIO),
    "nginx JSON": Variant("nginx", "access.jsonl", jsonl(_NGINX_JSON)),
    "vLLM statistics": Variant("vllm-log", "statistics.log", VLLM_STATISTICS),
}
