"""Traces with prefix ids: Mooncake, Bailian, Weka, Baseten and plain timed traces."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsed_samples import parsed
from vramledger.record.outcome import Outcome
from vramledger.workload.formats.format import Clock, Framing, Head
from vramledger.workload.formats.parts.block_size import consistent_sizes
from vramledger.workload.formats.registry import format_named
from workload_samples import TRACES, VARIANTS, jsonl

_S = 10**9
_MS = 10**6


def test_mooncake_counts_milliseconds_and_keeps_its_blocks(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["mooncake"])
    assert [each.arrival_ns for each in found.requests] == [0, 3 * _S, 3 * _S]
    assert [each.input_tokens for each in found.requests] == [655, 1100, 512]
    assert [each.output_tokens for each in found.requests] == [52, 26, 1]
    assert [each.prefix_ids for each in found.requests] == [[46, 47], [46, 48, 49], [46]]
    assert found.format.block_tokens == 512
    assert found.format.per_file


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"hash_ids": "46"}, "hash_ids is not a list"),
        ({"hash_ids": [46, {}]}, "hash_ids holds something that is no id"),
        ({"hash_ids": [46, True]}, "hash_ids holds something that is no id"),
        ({"timestamp": None}, "timestamp is missing"),
        ({"timestamp": "now"}, "timestamp is not a number"),
        ({"input_length": -655}, "input_length is negative"),
        ({"output_length": True}, "output_length is not a number"),
    ],
)
def test_a_mooncake_row_that_is_no_request_is_named_by_its_field(
    change: dict[str, object], reason: str, tmp_path: Path
) -> None:
    sound = {"timestamp": 0, "input_length": 655, "output_length": 52, "hash_ids": [46, 47]}
    found = parsed(tmp_path, "trace.jsonl", jsonl(sound, sound | change, *[sound] * 9))
    assert found.format.name == "mooncake"
    assert found.problems == [reason]
    assert len(found.requests) == 10


def test_four_fields_with_other_blocks_than_mooncakes_are_a_timed_trace(tmp_path: Path) -> None:
    row = {"timestamp": 0, "input_length": 655, "output_length": 52, "hash_ids": list(range(41))}
    found = parsed(tmp_path, "trace.jsonl", jsonl(row, row))
    assert found.format.name == "timed-trace"
    head = Head(Framing.JSONL, records=(row,))
    assert found.format.block_tokens_of(head) == 16


def test_bailian_joins_chats_to_conversations(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["bailian"])
    first, other, second = found.requests
    assert first.session == second.session
    assert other.session != first.session
    assert [each.turn for each in found.requests] == [0, 0, 1]
    assert second.arrival_ns == 61_114 * _MS
    assert second.prefix_ids == [1, 2, 4, 5, 6, 7]
    assert found.format.block_tokens == 16
    assert found.inferred == [
        "Conversations are the chains of chat_id and parent_chat_id (inferred)."
    ]


def test_bailian_joins_a_chain_whose_first_chat_was_before_the_trace(tmp_path: Path) -> None:
    row = {"timestamp": 1.0, "input_length": 9, "output_length": 9, "hash_ids": [], "type": "text"}
    found = parsed(
        tmp_path,
        "trace.jsonl",
        jsonl(
            row | {"chat_id": 5, "parent_chat_id": 4, "turn": 2},
            row | {"chat_id": 6, "parent_chat_id": 5, "turn": 3},
            row | {"chat_id": 7, "parent_chat_id": 4, "turn": 2},
        ),
    )
    assert len({each.session for each in found.requests}) == 1
    assert [each.turn for each in found.requests] == [1, 2, 1]


def test_weka_gives_each_request_of_a_trace_and_of_its_agents(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["weka"])
    assert found.problems == []
    assert [each.input_tokens for each in found.requests] == [200, 130, 200, 260]
    assert [each.output_tokens for each in found.requests] == [29, 24, 5, 31]
    assert [each.arrival_ns for each in found.requests] == [
        0, 10_500 * _MS, 13_750 * _MS, 19 * _S
    ]  # fmt: skip
    sessions = [each.session for each in found.requests]
    assert sessions[0] == sessions[3]
    assert sessions[1] == sessions[2]
    assert len(set(sessions)) == 2
    first, agent = found.requests[0], found.requests[1]
    assert first.prefix_ids is not None
    assert agent.prefix_ids is not None
    assert first.prefix_ids[0] == agent.prefix_ids[0]
    assert (first.duration_ns, first.first_token_ns) == (7_340 * _MS, 1_250 * _MS)
    assert found.requests[3].think_ns == 12 * _S
    assert {each.model for each in found.requests} == {"sonnet-sample", "haiku-sample"}


def test_weka_ids_are_those_of_one_conversation(tmp_path: Path) -> None:
    found = parsed(tmp_path, *VARIANTS["Weka, one request a line"][1:])
    first, second = found.requests
    assert (first.session, second.session) == ("talk-a", "talk-b")
    assert set(first.prefix_ids or ()).isdisjoint(second.prefix_ids or ())


def test_weka_ids_said_to_be_global_are_shared_by_conversations(tmp_path: Path) -> None:
    trace = {
        "block_size": 64,
        "hash_id_scope": "global",
        "requests": [{"t": 0, "in": 130, "out": 5, "hash_ids": [1, 2]}],
    }
    found = parsed(tmp_path, "traces.jsonl", jsonl(trace | {"id": "a"}, trace | {"id": "b"}))
    first, second = found.requests
    assert first.session != second.session
    assert first.prefix_ids == second.prefix_ids


def test_weka_takes_the_block_size_that_a_trace_states(tmp_path: Path) -> None:
    trace = {"id": "a", "block_size": 32, "requests": [{"t": 0, "in": 1, "out": 1, "hash_ids": []}]}
    found = parsed(tmp_path, "trace.json", jsonl(trace))
    assert found.format.block_tokens_of(Head(Framing.JSONL, records=(trace,))) == 32
    assert found.format.block_tokens_of(Head(Framing.JSONL)) == 64


def test_a_weka_request_that_is_none_does_not_cost_the_others(tmp_path: Path) -> None:
    trace = {
        "id": "a",
        "block_size": 64,
        "requests": [
            {"t": 0, "in": 130, "out": 5, "hash_ids": [1, 2]},
            "not a request",
            {"t": 1, "in": -4, "out": 5, "hash_ids": [1]},
            {"t": 2, "in": 140, "out": 6, "hash_ids": [1, 2]},
        ],
    }
    found = parsed(tmp_path, "trace.json", jsonl(trace))
    assert found.problems == ["t is missing", "in is negative"]
    assert [each.input_tokens for each in found.requests] == [130, 140]


@pytest.mark.parametrize("shape", ["JSON lines", "Parquet"])
def test_baseten_tells_cancelled_requests_and_their_times(shape: str, tmp_path: Path) -> None:
    sample = TRACES["baseten"] if shape == "JSON lines" else VARIANTS["Baseten as Parquet"][1:]
    found = parsed(tmp_path, *sample)
    first, second = found.requests
    assert first.arrival_ns == 1_759_813_207_250 * _MS
    assert (first.input_tokens, first.output_tokens, first.cached_tokens) == (40, 6, 32)
    assert (first.duration_ns, first.first_token_ns) == (900 * _MS, 120 * _MS)
    assert (first.outcome, first.cancel_after_ns) == (Outcome.OK, None)
    assert (second.outcome, second.cancel_after_ns) == (Outcome.CANCELLED, 300 * _MS)
    assert (first.session, first.tenant, first.model) == ("session-a", "an-organisation", "a-model")
    assert list(first.prefix_ids or ()) == [11, 12, 13]


def test_baseten_leaves_out_ids_of_another_block_size_than_the_first(tmp_path: Path) -> None:
    row = {
        "timestamp_start_unix_ms": 1_759_813_207_250,
        "input_tokens": 40,
        "output_tokens": 6,
        "total_hashes": [1, 2],
    }
    found = parsed(
        tmp_path, "rows.jsonl", jsonl(row | {"block_size": 16}, row | {"block_size": 32}, row)
    )
    assert [each.prefix_ids for each in found.requests] == [[1, 2], None, [1, 2]]
    assert found.inferred == [
        "Prefix ids of rows with another block size than the first row's are left out (inferred)."
    ]


def test_a_timed_trace_with_decimals_counts_seconds(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["timed-trace"])
    assert [each.arrival_ns for each in found.requests] == [0, 750 * _MS]
    assert [each.prefix_ids for each in found.requests] == [[1, 2, 3], [1, 2, 4]]
    assert found.assumed == ["Timestamps have decimals and are taken as seconds (assumed)."]
    assert found.inferred == [
        "A prefix id stands for 16 tokens, which explains the first rows (inferred)."
    ]


def test_a_timed_trace_of_whole_numbers_counts_milliseconds(tmp_path: Path) -> None:
    found = parsed(tmp_path, *VARIANTS["whole milliseconds without prefix ids"][1:])
    assert [each.arrival_ns for each in found.requests] == [0, 750 * _MS]
    (assumed,) = found.assumed
    assert assumed == (
        "Timestamps are whole numbers and taken as milliseconds (assumed); "
        "--map arrival_s=timestamp,input=...,output=... reads them as seconds."
    )


@pytest.mark.parametrize(
    ("label", "arrivals", "lengths"),
    [
        ("Vidur", [0, 125 * _MS], [(591, 140), (547, 248)]),
        ("Splitwise", [0, 1_500 * _MS], [(100, 20), (200, 30)]),
        (
            "dates and prompt_tokens",
            [1_772_352_000 * _S, 1_772_352_002 * _S + 500 * _MS],
            [(100, 20), (200, 30)],
        ),
    ],
)
def test_a_timed_trace_goes_by_other_usual_names(
    label: str, arrivals: list[int], lengths: list[tuple[int, int]], tmp_path: Path
) -> None:
    found = parsed(tmp_path, *VARIANTS[label][1:])
    assert [each.arrival_ns for each in found.requests] == arrivals
    assert [(each.input_tokens, each.output_tokens) for each in found.requests] == lengths


def test_a_timed_trace_says_what_its_times_count_from() -> None:
    trace = format_named("timed-trace")
    names = {"input_length": 1, "output_length": 1}

    def clock(timestamp: object) -> Clock:
        return trace.clock_of(Head(Framing.JSONL, records=(names | {"timestamp": timestamp},)))

    assert clock(0) is Clock.RELATIVE
    assert clock(12.5) is Clock.RELATIVE
    assert clock(1_700_000_000) is Clock.EPOCH
    assert clock(1_700_000_000_123) is Clock.EPOCH
    assert clock("2026-03-01T08:00:00Z") is Clock.EPOCH


@given(
    st.sampled_from([16, 64, 512]),
    st.lists(st.integers(1, 200_000), min_size=1, max_size=8),
    st.sampled_from(["whole blocks", "the last part too"]),
)
def test_the_size_that_made_the_ids_is_among_those_that_explain_them(
    size: int, lengths: list[int], told: str
) -> None:
    counts = [
        tokens // size if told == "whole blocks" else -(-tokens // size) for tokens in lengths
    ]
    records = [
        {"input_length": tokens, "hash_ids": list(range(count))}
        for tokens, count in zip(lengths, counts, strict=True)
    ]
    found = consistent_sizes(records)
    assert size in found or not any(counts)


def test_no_size_explains_lists_of_any_length() -> None:
    records = [
        {"input_length": 1000, "hash_ids": [1]},
        {"input_length": 1000, "hash_ids": list(range(63))},
    ]
    assert consistent_sizes(records) == ()
