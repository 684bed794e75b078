"""Access logs of nginx and Envoy: arrivals, durations, outcomes."""

import json
from pathlib import Path

import pytest

from parsed_samples import parsed
from vramledger.record.outcome import Outcome
from vramledger.workload.formats.parts.completion_path import require_completion
from vramledger.workload.raw import RowProblem
from workload_log_samples import ENVOY, ISTIO, LOG_VARIANTS, LOGS

_SECOND = 10**9
_END = 1_772_442_004 * _SECOND  # 2026-03-02 09:00:04 UTC


def _nginx_line(rest: str, status: int = 200) -> bytes:
    return (
        "192.0.2.7 - - [02/Mar/2026:10:00:04 +0100] "
        f'"POST /v1/completions HTTP/1.1" {status} 512 "-" "client"{rest}\n'
    ).encode()


def test_nginx_logs_the_end_so_the_request_time_is_taken_off(tmp_path: Path) -> None:
    found = parsed(tmp_path, *LOGS["nginx"])
    first, second = found.requests
    assert first.arrival_ns == _END - 4_250_000_000
    assert (first.duration_ns, first.outcome) == (4_250_000_000, Outcome.OK)
    assert (first.input_tokens, first.output_tokens, first.first_token_ns) == (None, None, None)
    assert second.outcome is Outcome.CANCELLED
    assert second.cancel_after_ns == second.duration_ns == 1_500_000_000
    assert found.problems == ["request is no POST"]
    assert set(found.assumed) == {
        "Ends are logged in whole seconds, so that arrivals are early by up to a second (assumed)."
    }


@pytest.mark.parametrize(
    "rest",
    [
        ' "https://a.example/?duration=300" "client rt=9" rt=1.500',
        ' "-" "client rt=9" 1.500',
        ' "-" "client" "x" rt=1.500 uct="0.100" uht="0.200"',
        ' "-" "client" uct="0.100" "rt=1.500"',
        ' "-" "client 2.500" request_time:"1.500"',
    ],
)
def test_what_a_client_says_is_no_request_time(tmp_path: Path, rest: str) -> None:
    line = _nginx_line("").removesuffix(b' "-" "client"\n') + rest.encode() + b"\n"
    (request,) = parsed(tmp_path, "access.log", line).requests
    assert request.duration_ns == 1_500_000_000


@pytest.mark.parametrize(
    ("logged", "taken_ns"),
    [
        ("4.249", 4_249_000_000),
        (4.249, 4_249_000_000),
        ("0.250, 1.000 : 2.500", 3_750_000_000),
        ("-, 1.000", 1_000_000_000),
        ("-", None),
        ("", None),
    ],
)
def test_json_with_the_times_of_upstream_servers_alone_lasts_their_sum(
    logged: str | float, taken_ns: int | None, tmp_path: Path
) -> None:
    _, name, content = LOG_VARIANTS["nginx JSON"]
    record = json.loads(content) | {"upstream_response_time": logged}
    del record["request_time"]
    found = parsed(tmp_path, name, json.dumps(record).encode())
    (request,) = found.requests
    assert (request.duration_ns, request.arrival_ns) == (
        taken_ns, 1_772_442_004_500_000_000 - (taken_ns or 0)
    )  # fmt: skip
    said = (
        "Requests are taken to last as long as the servers behind nginx did, since no $request_time "
        "is logged (inferred)."
    )
    assert (said in found.inferred) is (taken_ns is not None)


def test_an_upstream_time_that_is_none_is_a_problem(tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS["nginx JSON"]
    record = json.loads(content) | {"request_time": None, "upstream_response_time": "0.1, x"}
    found = parsed(tmp_path, name, json.dumps(record).encode())
    assert found.problems == ["upstream_response_time is not a number"]


def test_nginx_names_its_user_or_else_the_address(tmp_path: Path) -> None:
    first, second = parsed(tmp_path, *LOGS["nginx"]).requests
    assert (first.tenant, second.tenant) == ("user-one", "192.0.2.8")


@pytest.mark.parametrize(
    "rest",
    [
        " rt=1.250 urt=1.249",
        ' request_time="1.250"',
        " request_time:1.250 upstream_response_time:1.249",
        ' "192.0.2.200" rt=1.250',
        " 1.250",
        ' "-" 1.250 1.249 .',
        ' "1.999 in an agent\'s name" 1.250',
    ],
)
def test_what_was_appended_to_the_combined_format_is_read(rest: str, tmp_path: Path) -> None:
    (request,) = parsed(tmp_path, "access.log", _nginx_line(rest)).requests
    assert request.arrival_ns == _END - 1_250_000_000


def test_a_bare_number_is_inferred_to_be_the_request_time(tmp_path: Path) -> None:
    assert parsed(tmp_path, "access.log", _nginx_line(" 0.500")).inferred[0] == (
        "The first bare number with three decimals is taken for $request_time (inferred)."
    )


def test_without_a_request_time_the_end_is_the_arrival_and_said(tmp_path: Path) -> None:
    found = parsed(tmp_path, "access.log", _nginx_line(""))
    assert (found.requests[0].arrival_ns, found.requests[0].duration_ns) == (_END, None)
    assert "No request time is logged: ends are taken as arrivals (assumed)." in found.assumed


def test_msec_in_json_is_the_end_to_the_millisecond(tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS["nginx JSON"]
    found = parsed(tmp_path, name, content)
    assert found.requests[0].arrival_ns == _END + _SECOND // 2 - 4_250_000_000
    assert found.assumed == []


def test_a_json_line_with_the_request_as_one_field_is_read(tmp_path: Path) -> None:
    record = {
        "time_local": "02/Mar/2026:09:00:04 +0000",
        "request": "POST /v1/chat/completions HTTP/2.0",
        "status": 429,
        "request_time": 0.25,
    }
    (request,) = parsed(tmp_path, "access.jsonl", json.dumps(record).encode()).requests
    assert request.arrival_ns == _END - _SECOND // 4
    assert request.outcome is Outcome.REJECTED


def test_lines_that_are_none_are_dropped_by_reason(tmp_path: Path) -> None:
    content = _nginx_line(" rt=1.000") * 2 + b"something else\n" + _nginx_line(" rt=soon")
    found = parsed(tmp_path, "access.log", content)
    assert len(found.requests) == 2
    assert found.problems == ["line is no access log line", "request_time is not a number"]


def test_envoy_logs_the_start_so_nothing_is_taken_off(tmp_path: Path) -> None:
    found = parsed(tmp_path, *LOGS["envoy"])
    start = 1_772_442_000 * _SECOND + _SECOND // 4
    assert [each.arrival_ns for each in found.requests] == [
        start, start + 5 * _SECOND, start + 6 * _SECOND,
    ]  # fmt: skip
    assert [each.outcome for each in found.requests] == [
        Outcome.OK, Outcome.CANCELLED, Outcome.TIMED_OUT,
    ]  # fmt: skip
    assert [each.duration_ns for each in found.requests] == [
        4 * _SECOND, 1_500_000_000, 15 * _SECOND,
    ]  # fmt: skip
    assert [each.cancel_after_ns for each in found.requests] == [None, 1_500_000_000, None]
    assert [each.tenant for each in found.requests] == ["192.0.2.7", None, None]
    assert found.problems == ["request is no POST"]


def test_istio_puts_three_details_between_flags_and_bytes(tmp_path: Path) -> None:
    (request,) = parsed(tmp_path, "istio.log", ISTIO).requests
    assert (request.outcome, request.duration_ns) == (Outcome.REJECTED, 2_000_000)


@pytest.mark.parametrize(
    ("status", "flags", "outcome"),
    [
        ("200", "-", Outcome.OK),
        ("200", "UC", Outcome.INCOMPLETE),
        ("503", "UC", Outcome.FAILED),
        ("200", "URX,DC", Outcome.CANCELLED),
        ("0", "DC", Outcome.CANCELLED),
        ("0", "-", Outcome.INCOMPLETE),
        ("408", "SI", Outcome.TIMED_OUT),
        ("403", "UAEX", Outcome.REJECTED),
        ("429", "RL", Outcome.REJECTED),
        ("500", "-", Outcome.FAILED),
    ],
)
def test_response_flags_speak_before_the_status(
    status: str, flags: str, outcome: Outcome, tmp_path: Path
) -> None:
    line = ENVOY.splitlines(keepends=True)[0].replace(b"200 -", f"{status} {flags}".encode())
    (request,) = parsed(tmp_path, "envoy.log", line).requests
    assert request.outcome is outcome


def test_a_stream_that_broke_in_json_is_incomplete(tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS["Envoy JSON"]
    (request,) = parsed(tmp_path, name, content).requests
    assert (request.outcome, request.duration_ns) == (Outcome.INCOMPLETE, 4 * _SECOND)


@pytest.mark.parametrize(
    "target",
    [
        "/v1/chat/completions",
        "/v1/completions?stream=1",
        "/openai/deployments/invoke-me/chat/completions?api-version=1",
        "/v1/responses",
        "/v1/messages",
        "/generate_stream",
        "/api/chat",
        "/v2/models/name/generate",
        "/invocations",
        "/v1beta/models/name:streamGenerateContent",
        "/prefix/v1/chat/completions/",
    ],
)
def test_paths_that_ask_for_text_pass(target: str) -> None:
    require_completion("POST", target)


@pytest.mark.parametrize(
    ("method", "target", "reason"),
    [
        ("GET", "/v1/chat/completions", "request is no POST"),
        ("POST", "/v1/embeddings", "path asks for no completion"),
        ("POST", "/v1/messages/count_tokens", "path asks for no completion"),
        ("POST", "/tokenize?next=/v1/completions", "path asks for no completion"),
        ("POST", "", "path asks for no completion"),
    ],
)
def test_other_requests_are_dropped(method: str, target: str, reason: str) -> None:
    with pytest.raises(RowProblem, match=f"^{reason}$"):
        require_completion(method, target)
