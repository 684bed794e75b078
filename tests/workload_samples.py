"""One small file of each trace format, written from the formats' own documents.

`TRACES` has one a format; `VARIANTS` further shapes of the same formats; `REFUSED` what is recognised
and is no log of requests. Every text in them is invented.
"""

import io
import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class Sample(NamedTuple):
    """A file as a user has it."""

    file_name: str
    content: bytes


class Variant(NamedTuple):
    """A further shape of a format."""

    format: str
    file_name: str
    content: bytes


def jsonl(*records: Mapping[str, Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def csv(*lines: str, end: str = "\n") -> bytes:
    return (end.join(lines) + end).encode()


def parquet(*records: Mapping[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(each) for each in records]), sink)
    return sink.getvalue()


_TRACELAB = [
    {
        "provider": "claude",
        "user": "user_a",
        "project": "project_a",
        "session_id": "claude:session-a",
        "round_index": index,
        "round_id": f"msg_{index}",
        "model": "opus-sample",
        "input_tokens_total": 32272 + 4000 * index,
        "prefix_tokens": 27217 + 4000 * index,
        "newly_append_tokens": 5055,
        "claude_uncached_input_tokens": 2892,
        "claude_cache_creation_input_tokens": 2163,
        "claude_cache_read_input_tokens": 27217,
        "output_tokens": 931,
        "reasoning_output_tokens": 31 if index else None,
        "timing_events": [
            {"event_type": "user_message", "timestamp": f"2026-06-01T05:4{index}:20.151Z", "source": "user.message"},
            {"event_type": "tool_result", "timestamp": f"2026-06-01T05:4{index}:21.151Z", "source": "user.tool"},
            {"event_type": "reasoning", "timestamp": f"2026-06-01T05:4{index}:29.420Z", "source": "assistant.thinking"},
            {"event_type": "tool_call", "timestamp": f"2026-06-01T05:4{index}:31.647Z", "tool_name": "Bash", "tool_call_id": "toolu_a"},
        ],
        "tools": [{"tool_index": 0, "tool_name": "Bash", "tool_call_id": "toolu_a", "is_error": False}],
        "store": ".claude",
        "trace_key": f"claude:session-a:msg_{index}",
    }
    for index in range(2)
]  # fmt: skip

_WEKA = {
    "id": "8712b46f-04e",
    "models": ["sonnet-sample"],
    "block_size": 64,
    "hash_id_scope": "local",
    "tool_tokens": 64,
    "system_tokens": 64,
    "requests": [
        {
            "t": 0.0, "type": "s", "model": "sonnet-sample", "in": 200, "out": 29, "hash_ids": [1, 2, 3],
            "input_types": ["text"], "output_types": ["thinking", "tool_use"], "stop": "tool_use",
            "api_time": 7.34, "ttft": 1.25, "think_time": 0.0,
        },
        {
            "t": 10.5, "type": "subagent", "agent_id": "agent_001", "subagent_type": "Explore",
            "status": "completed", "models": ["haiku-sample"], "requests": [
                {"t": 0.0, "type": "n", "model": "haiku-sample", "in": 130, "out": 24, "hash_ids": [1, 9]},
                {"t": 3.25, "type": "n", "model": "haiku-sample", "in": 200, "out": 5, "hash_ids": [1, 9, 10]},
            ],
        },
        {
            "t": 19.0, "type": "n", "model": "sonnet-sample", "in": 260, "out": 31, "hash_ids": [1, 2, 3, 4],
            "input_types": ["tool_result"], "output_types": ["text"], "stop": "end_turn",
            "api_time": 9.19, "think_time": 12.0,
        },
    ],
}  # fmt: skip

_AIPERF_EXPORT = [
    {
        "metadata": {
            "session_num": 45,
            "x_request_id": "request-a",
            "x_correlation_id": "session-a",
            "conversation_id": "conversation-a",
            "turn_index": 0,
            "request_start_ns": 1759813207532900363,
            "request_ack_ns": 1759813207650730976,
            "request_end_ns": 1759813207838764604,
            "worker_id": "worker_a",
            "record_processor_id": "record_processor_a",
            "benchmark_phase": "profiling",
            "was_cancelled": False,
            "cancellation_time_ns": None,
        },
        "metrics": {
            "input_sequence_length": {"value": 550, "unit": "tokens"},
            "time_to_first_token": {"value": 255.5, "unit": "ms"},
            "request_latency": {"value": 305.864241, "unit": "ms"},
            "output_token_count": {"value": 9, "unit": "tokens"},
            "reasoning_token_count": {"value": 3, "unit": "tokens"},
            "output_sequence_length": {"value": 12, "unit": "tokens"},
        },
        "error": None,
    },
    {
        "metadata": {
            "session_num": 80,
            "x_request_id": "request-b",
            "x_correlation_id": "session-b",
            "conversation_id": "conversation-b",
            "turn_index": 0,
            "request_start_ns": 1759813217532900363,
            "request_ack_ns": None,
            "request_end_ns": 1759813219532900363,
            "worker_id": "worker_a",
            "record_processor_id": "record_processor_a",
            "benchmark_phase": "profiling",
            "was_cancelled": True,
            "cancellation_time_ns": 1759813219532900363,
        },
        "metrics": {"error_isl": {"value": 650, "unit": "tokens"}},
        "error": {"code": 499, "type": "RequestCancellationError", "message": "cancelled after 2 s"},
    },
]  # fmt: skip


def _guidellm_request(name: str, start: float, **fields: Any) -> dict[str, Any]:
    return {
        "type_": "generative_request_stats",
        "request_id": name,
        "request_args": "{}",
        "output": "an answer",
        "info": {"request_id": name, "conversation_id": "talk-a", "turn_index": 0, "status": "completed"},
        "request_start_time": start,
        "prompt_tokens": 128,
        "cached_tokens": None,
        "output_tokens": 64,
        "request_latency": 1.5,
        "time_to_first_token_ms": 250.25,
    } | fields  # fmt: skip


_GUIDELLM = {
    "metadata": {"version": 2, "guidellm_version": "0.5", "platform": "a machine"},
    "args": {"target": "http://localhost:8000"},
    "benchmarks": [
        {
            "type_": "generative_benchmark",
            "requests": {
                "successful": [
                    _guidellm_request("request-a", 1759813207.25, cached_tokens=96),
                    _guidellm_request("request-b", 1759813208.5, prompt_tokens=300, output_tokens=7),
                ],
                "errored": [_guidellm_request("request-c", 1759813209.0, output_tokens=None)],
                "incomplete": [_guidellm_request("request-d", 1759813210.0, output_tokens=3)],
                "total": None,
            },
        }
    ],
}  # fmt: skip

_BASETEN = [
    {
        "timestamp_start_unix_ms": 1759813207250,
        "prompt": "a prompt",
        "input_tokens": 40,
        "output_tokens": 6,
        "total_hashes": [11, 12, 13],
        "block_size": 16,
        "provided_session_id": "session-a",
        "poor_man_session_id": 7,
        "request_canceled": 0,
        "duration_e2e_ms": 900,
        "duration_ttft_ms": 120,
        "cached_tokens_reference": 32,
        "model_name": "a-model",
        "org_id": "an-organisation",
        "output_text": "an answer",
    },
    {
        "timestamp_start_unix_ms": 1759813208250,
        "prompt": "another prompt",
        "input_tokens": 48,
        "output_tokens": 0,
        "total_hashes": [11, 12, 14],
        "block_size": 16,
        "provided_session_id": "session-b",
        "poor_man_session_id": 8,
        "request_canceled": 1,
        "duration_e2e_ms": 300,
        "duration_ttft_ms": None,
        "cached_tokens_reference": 0,
        "model_name": "a-model",
        "org_id": "an-organisation",
        "output_text": "",
    },
]

_SHAREGPT = [
    {
        "id": "talk_0",
        "conversations": [
            {"from": "human", "value": "Who are you?"},
            {"from": "gpt", "value": "A language model."},
            {"from": "human", "value": "Have a nice day!"},
            {"from": "gpt", "value": "You too!"},
        ],
    },
    {
        "id": "talk_1",
        "conversations": [
            {"from": "gpt", "value": "Welcome back."},
            {"from": "human", "value": "Thanks."},
            {"from": "gpt", "value": "What next?"},
        ],
    },
]

TRACES: dict[str, Sample] = {
    "tracelab": Sample("rounds.jsonl", jsonl(*_TRACELAB)),
    "bailian": Sample(
        "bailian.jsonl",
        jsonl(
            {"chat_id": 55, "parent_chat_id": -1, "timestamp": 12.5, "input_length": 40, "output_length": 9, "type": "text", "turn": 1, "hash_ids": [1, 2, 3]},
            {"chat_id": 60, "parent_chat_id": -1, "timestamp": 30.25, "input_length": 16, "output_length": 5, "type": "thinking", "turn": 1, "hash_ids": [9]},
            {"chat_id": 159, "parent_chat_id": 55, "timestamp": 61.114, "input_length": 81, "output_length": 12, "type": "text", "turn": 2, "hash_ids": [1, 2, 4, 5, 6, 7]},
        ),
    ),
    "aiperf-export": Sample("profile_export.jsonl", jsonl(*_AIPERF_EXPORT)),
    "guidellm": Sample("benchmarks.json", json.dumps(_GUIDELLM).encode()),
    "weka": Sample("trace_0001.json", json.dumps(_WEKA).encode()),
    "baseten": Sample("baseten.jsonl", jsonl(*_BASETEN)),
    "workload-trace": Sample(
        "workload_trace.jsonl",
        jsonl(
            {"body": {"model": "plus-sample", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 50, "user": "someone"}, "timestamp": 1700000000.0},
            {"body": json.dumps({"model": "max-sample", "prompt": "write a poem"}), "timestamp": "2023-11-14T22:13:21.500Z", "request_id": "req-42", "headers": {"x-team": "blue"}, "completion_tokens": 20},
        ),
    ),
    "mooncake": Sample(
        "mooncake.jsonl",
        jsonl(
            {"timestamp": 0, "input_length": 655, "output_length": 52, "hash_ids": [46, 47]},
            {"timestamp": 3000, "input_length": 1100, "output_length": 26, "hash_ids": [46, 48, 49]},
            {"timestamp": 3000, "input_length": 512, "output_length": 1, "hash_ids": [46]},
        ),
    ),
    "aiperf-trace": Sample(
        "aiperf.jsonl",
        jsonl(
            {"session_id": "talk-a", "timestamp": 1000, "input_length": 600, "output_length": 40, "hash_ids": [1, 2]},
            {"session_id": "talk-a", "delay": 2000, "input_length": 150, "output_length": 20},
            {"timestamp": 2500.5, "text_input": "hello", "output_length": 4},
            {"timestamp": 3000, "messages": [{"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "file"}}]}], "output_length": 4},
            {"timestamp": 4000, "payload": {"model": "a-model", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}},
        ),
    ),
    "azure-llm": Sample(
        "azure.csv",
        csv(
            "TIMESTAMP,ContextTokens,GeneratedTokens",
            "2023-11-16 18:17:03.9799600,4808,10",
            "2023-11-16 18:17:04.0319600,3180,8",
            end="\r\n",
        ).removesuffix(b"\r\n"),
    ),
    "burstgpt": Sample(
        "burstgpt.csv",
        csv(
            "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type",
            "19440110.0,1722ac82-sample,43,GPT-4,906,446,1352,Conversation log",
            "19440161.5,,2,ChatGPT,36,0,36,API log",
        ),
    ),
    "sharegpt": Sample("sharegpt.json", json.dumps(_SHAREGPT).encode()),
    "timed-trace": Sample(
        "timed.jsonl",
        jsonl(
            {"timestamp": 0.0, "input_length": 40, "output_length": 5, "hash_ids": [1, 2, 3]},
            {"timestamp": 0.75, "input_length": 48, "output_length": 6, "hash_ids": [1, 2, 4]},
        ),
    ),
}  # fmt: skip

VARIANTS: dict[str, Variant] = {
    "Azure 2024, mixed fractions": Variant(
        "azure-llm",
        "azure_2024.csv",
        csv(
            "TIMESTAMP,ContextTokens,GeneratedTokens",
            "2024-05-10 00:00:00.009930+00:00,2162,5",
            "2024-05-10 00:00:01+00:00,2399,6",
        ),
    ),
    "Azure 2025 with images": Variant(
        "azure-llm",
        "azure_2025.csv",
        csv(
            "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens",
            "2024-10-15 00:00:00.5,2,1500,20",
            "2024-10-15 00:00:01.5,0,100,30",
        ),
    ),
    "BurstGPT of 6 columns": Variant(
        "burstgpt",
        "burstgpt_1.csv",
        csv(
            "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
            "5,ChatGPT,472,18,490,Conversation log",
            "45,GPT-4,1087,0,1087,API log",
        ),
    ),
    "Baseten as Parquet": Variant("baseten", "baseten.parquet", parquet(*_BASETEN)),
    "Weka, one request a line": Variant(
        "weka",
        "weka_flat.jsonl",
        jsonl(
            {"id": "talk-a", "t": 0.0, "in": 130, "out": 5, "hash_ids": [1, 2]},
            {"id": "talk-b", "t": 0.0, "in": 130, "out": 6, "hash_ids": [1, 2]},
        ),
    ),
    "Weka, printed over many lines": Variant(
        "weka", "trace_pretty.json", json.dumps(_WEKA, indent=1).encode()
    ),
    "GuideLLM report printed over many lines": Variant(
        "guidellm", "benchmarks_pretty.json", json.dumps(_GUIDELLM, indent=4).encode()
    ),
    "LMSYS rows": Variant(
        "sharegpt",
        "lmsys.jsonl",
        jsonl(
            {
                "conversation_id": "talk-a", "model": "vicuna-sample", "turn": 1, "language": "English",
                "redacted": False, "openai_moderation": [],
                "conversation": [
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": "hello"},
                ],
            }
        ),
    ),
    "chat fine-tuning rows": Variant(
        "sharegpt",
        "tuning.jsonl",
        jsonl(
            {
                "messages": [
                    {"role": "system", "content": "be brief"},
                    {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": "hello"},
                ]
            }
        ),
    ),
    "whole milliseconds without prefix ids": Variant(
        "timed-trace",
        "lengths.jsonl",
        jsonl(
            {"timestamp": 0, "input_length": 40, "output_length": 5},
            {"timestamp": 750, "input_length": 48, "output_length": 6},
        ),
    ),
    "Vidur": Variant(
        "timed-trace",
        "vidur.csv",
        csv("arrived_at,num_prefill_tokens,num_decode_tokens", "0,591,140", "0.125,547,248"),
    ),
    "Splitwise": Variant(
        "timed-trace",
        "splitwise.csv",
        csv(
            "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size",
            "0,2,0,0.0,1,100,20",
            "1,2,0,1.5,1,200,30",
        ),
    ),
    "dates and prompt_tokens": Variant(
        "timed-trace",
        "dated.csv",
        csv(
            "timestamp,prompt_tokens,completion_tokens",
            "2026-03-01T08:00:00Z,100,20",
            "2026-03-01T08:00:02.5Z,200,30",
        ),
    ),
    "EvalScope, seconds from the start": Variant(
        "workload-trace",
        "from_start.jsonl",
        jsonl(
            {"body": {"prompt": "one"}, "timestamp": 0.5},
            {"body": {"prompt": "two"}, "timestamp": 1.25},
        ),
    ),
}  # fmt: skip

REFUSED: dict[str, Sample] = {
    "servegen": Sample(
        "chunk-27-trace.csv",
        csv(
            "0,88.06,1.15,Gamma,0.75,0.015",
            "600,85.5,1.13,Weibull,0.77,0.015",
            "1200,0.0,1.0,,,",
            end="\r\n",
        ),
    ),
    "servegen lengths": Sample(
        "chunk-27-dataset.json",
        json.dumps(
            {
                "0": {"input_tokens": "{50: 0.5, 51: 0.5}", "output_tokens": "{2: 0.1, 3: 0.9}"},
                "21600": {"input_tokens": "{50: 1.0}", "output_tokens": "{2: 1.0}"},
            },
            indent=2,
        ).encode(),
    ),
}
