"""The Azure and BurstGPT traces, row by row."""

from pathlib import Path

import pytest

from parsed_samples import parsed
from vramledger.record.outcome import Outcome
from workload_samples import TRACES, VARIANTS, csv

_AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens"
_BURST = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
_2023_NS = 1_700_158_623 * 10**9  # 2023-11-16 18:17:03 UTC
_2024_NS = 1_715_299_200 * 10**9  # 2024-05-10 00:00:00 UTC


def test_azure_keeps_seven_digits_of_a_second_and_a_last_line_without_an_end(
    tmp_path: Path,
) -> None:
    found = parsed(tmp_path, *TRACES["azure-llm"])
    assert [each.arrival_ns for each in found.requests] == [
        _2023_NS + 979_960_000,
        _2023_NS + 10**9 + 31_960_000,
    ]
    assert [(each.input_tokens, each.output_tokens) for each in found.requests] == [
        (4808, 10),
        (3180, 8),
    ]
    assert set(found.assumed) == {"Times carry no time zone and are taken as UTC (assumed)."}


def test_azure_reads_times_with_and_without_fractions_in_one_file(tmp_path: Path) -> None:
    found = parsed(tmp_path, *VARIANTS["Azure 2024, mixed fractions"][1:])
    assert [each.arrival_ns for each in found.requests] == [_2024_NS + 9_930_000, _2024_NS + 10**9]
    assert found.assumed == []


def test_azure_counts_images_where_it_has_them(tmp_path: Path) -> None:
    found = parsed(tmp_path, *VARIANTS["Azure 2025 with images"][1:])
    assert [each.images for each in found.requests] == [2, 0]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("2023-11-16 18:17:03,many,10", "ContextTokens is not a number"),
        ("2023-11-16 18:17:03,12.5,10", "ContextTokens is not a whole number"),
        ("2023-11-16 18:17:03,-1,10", "ContextTokens is negative"),
        ("2023-11-16 18:17:03,12,", "GeneratedTokens is missing"),
        ("2023-13-16 18:17:03,12,1", "TIMESTAMP is no date"),
        ("soon,12,1", "TIMESTAMP is neither a date nor a number"),
        ("2023-11-16 18:17:03,12", "wrong number of columns"),
    ],
)
def test_an_azure_row_that_is_no_request_is_named_by_its_field(
    row: str, reason: str, tmp_path: Path
) -> None:
    found = parsed(tmp_path, "azure.csv", csv(_AZURE, row, "2023-11-16 18:17:04,7,1"))
    assert found.problems == [reason]
    assert [each.input_tokens for each in found.requests] == [7]


def test_burstgpt_takes_columns_by_name_and_empty_responses_as_failures(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["burstgpt"])
    first, second = found.requests
    assert first.arrival_ns == 19_440_110 * 10**9
    assert second.arrival_ns == 19_440_161_500_000_000
    assert (first.input_tokens, first.output_tokens) == (906, 446)
    assert (first.outcome, second.outcome) == (Outcome.OK, Outcome.FAILED)
    assert (first.session, second.session) == ("1722ac82-sample", None)
    assert (first.duration_ns, second.duration_ns) == (43 * 10**9, 2 * 10**9)
    assert (first.model, second.model) == ("GPT-4", "ChatGPT")
    assert found.inferred == [
        "Rows with 0 response tokens are failures, as the trace's authors say (inferred)."
    ]


def test_burstgpt_of_six_columns_has_no_sessions_or_durations(tmp_path: Path) -> None:
    found = parsed(tmp_path, *VARIANTS["BurstGPT of 6 columns"][1:])
    assert [each.arrival_ns for each in found.requests] == [5 * 10**9, 45 * 10**9]
    assert [each.output_tokens for each in found.requests] == [18, 0]
    assert {each.session for each in found.requests} == {None}
    assert {each.duration_ns for each in found.requests} == {None}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",GPT-4,1,1,2,API log", "Timestamp is missing"),
        ("nan,GPT-4,1,1,2,API log", "Timestamp is not a finite number"),
        ("1e300,GPT-4,1,1,2,API log", "Timestamp is beyond any clock"),
        ("5,GPT-4,1e12,1,2,API log", "Request tokens is beyond any context"),
        ("5,GPT-4,1,x,2,API log", "Response tokens is not a number"),
    ],
)
def test_a_burstgpt_row_that_is_no_request_is_named_by_its_field(
    row: str, reason: str, tmp_path: Path
) -> None:
    found = parsed(tmp_path, "burst.csv", csv(_BURST, row, "6,GPT-4,3,4,7,API log"))
    assert found.problems == [reason]
    assert len(found.requests) == 1
