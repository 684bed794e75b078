"""Spans and access logs, in the forms that their programs document, on a run's clock."""

import json
from pathlib import Path
from typing import Any

import pytest

from vramledger.errors import BadInput
from vramledger.trial.stages.reading import OnTheRun, read_stages
from vramledger.trial.stages.told import identity, number_in, traced_head

TRACE = "00112233445566aa"
ZERO_NS = 1_796_119_200_000_000_000
CLOCK = OnTheRun(ZERO_NS, 0.5, TRACE, {"chatcmpl-77": 77})  # its clock is half a second ahead


def _span(trace: str, begin_s: float, end_s: float, kind: Any, **attributes: Any) -> dict[str, Any]:
    listed = [
        {"key": key.replace("__", "."), "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}
        for key, value in attributes.items()
    ]  # fmt: skip
    return {
        "traceId": trace,
        "spanId": "0" * 16,
        "kind": kind,
        "startTimeUnixNano": str(ZERO_NS + round(begin_s * 1e9)),
        "endTimeUnixNano": str(ZERO_NS + round(end_s * 1e9)),
        "attributes": listed,
    }


def _line(service: str, *spans: dict[str, Any]) -> str:
    about = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return json.dumps({"resourceSpans": [{"resource": about, "scopeSpans": [{"spans": spans}]}]})


def rows(tmp_path: Path, *lines: str) -> list[tuple[Any, ...]]:
    path = tmp_path / "stages"
    path.write_text("\n".join(lines) + "\n")
    return [
        (row.request_id, row.stage, row.source, pytest.approx(row.start_s), pytest.approx(row.end_s))
        for row in read_stages(path, CLOCK).rows
    ]  # fmt: skip


def test_the_identity_of_a_request_is_in_its_head_and_found_in_names() -> None:
    head = traced_head(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ", TRACE, 5)
    name = identity(TRACE, 5)
    assert (
        head
        == (
            f"POST / HTTP/1.1\r\nHost: x\r\ntraceparent: 00-{name}-0000000000000006-01\r\n"
            f"x-request-id: {name}\r\nContent-Length: "
        ).encode()
    )
    assert number_in(f"chatcmpl-{name}-0", TRACE) == 5
    assert number_in(f"00-{name}-0000000000000006-01", TRACE) == 5
    assert number_in("chatcmpl-1234", TRACE) is None
    assert number_in(TRACE + "not sixteen", TRACE) is None


def test_an_engines_span_is_its_queue_its_prefill_and_its_decode(tmp_path: Path) -> None:
    times = {
        "gen_ai__latency__time_in_queue": 0.25,
        "gen_ai__latency__time_in_model_prefill": 0.5,
        "gen_ai__latency__time_in_model_decode": 1.0,
    }
    by_trace = _span(identity(TRACE, 3), 1.0, 3.0, 2, **times)
    by_name = _span("f" * 32, 1.0, 3.0, "SPAN_KIND_SERVER", gen_ai__request__id="chatcmpl-77", gen_ai__latency__time_in_queue=0.25)  # fmt: skip
    assert rows(tmp_path, _line("vllm", by_trace), _line("vllm", by_name)) == [
        (3, "engine", "vllm", 0.5, 2.5),
        (3, "queue", "vllm", 0.5, 0.75),
        (3, "prefill", "vllm", 0.75, 1.25),
        (3, "decode", "vllm", 1.25, 2.25),
        (77, "engine", "vllm", 0.5, 2.5),
        (77, "queue", "vllm", 0.5, 0.75),
    ]


def test_spans_of_a_gateway_are_its_time_and_that_of_whom_it_calls(tmp_path: Path) -> None:
    name = identity(TRACE, 0)
    spans = (_span(name, 1.0, 2.0, 2), _span(name, 1.25, 2.0, 3), _span(name, 1.1, 1.2, 1))
    assert rows(tmp_path, _line("gate", *spans)) == [
        (0, "gateway_whole", "gate", 0.5, 1.5),
        (0, "upstream", "gate", 0.75, 1.5),
    ]


def test_access_logs_of_envoy_and_nginx_are_read_as_they_document_them(tmp_path: Path) -> None:
    name = identity(TRACE, 9)
    envoy = {"start_time": "2026-12-01T10:00:01.000Z", "duration": 900, "request_tx_duration": 20, "response_duration": 120, "x_request_id": name}  # fmt: skip
    nginx = {"msec": str(ZERO_NS / 1e9 + 3), "request_time": "1.000", "upstream_response_time": "0.750", "upstream_header_time": "0.500", "request_id": name}  # fmt: skip
    text = (
        '[2026-12-01T10:00:01.000Z] "POST /v1/chat/completions HTTP/1.1" 200 - 512 9000 900 100 "-" "vramledger/0.1" '
        f'"{name}" "gpu-host" "10.0.0.7:8000"'
    )
    assert rows(tmp_path, json.dumps(envoy), json.dumps(nginx), text) == [
        (9, "gateway_whole", "envoy", 0.5, 1.4),
        (9, "gateway", "envoy", 0.5, 0.52),
        (9, "upstream", "envoy", 0.52, 0.62),
        (9, "gateway_whole", "nginx", 1.5, 2.5),
        (9, "gateway", "nginx", 1.5, 1.75),
        (9, "upstream", "nginx", 1.75, 2.25),
        (9, "gateway_whole", "envoy", 0.5, 1.4),
    ]


def test_other_requests_and_other_lines_are_counted_and_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "stages"
    lines = (
        _line("gate", _span("e" * 32, 1.0, 2.0, 2)),
        "plain words",
        "{half",
        '{"resourceSpans": [{"scopeSpans": [{"spans": [7, {"traceId": 5}]}]}]}',
        '{"request_id": "x", "msec": "-", "request_time": NaN}',
        "",
    )
    path.write_bytes("\n".join(lines).encode() + b"\xff\n")
    found = read_stages(path, CLOCK)
    assert (found.rows, found.lines, found.unread, found.others) == ((), 6, 3, 1)
    with pytest.raises(BadInput, match="--stages takes OpenTelemetry spans as JSON lines"):
        read_stages(tmp_path / "none", CLOCK)
