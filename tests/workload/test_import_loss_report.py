"""The loss report: every row is kept or counted, whatever the log holds."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imported_logs import azure, imported, second
from vramledger.errors import BadInput
from vramledger.workload.collect import Collector
from vramledger.workload.importer import import_logs
from vramledger.workload.raw import RawRequest
from workload_log_samples import vllm_received


def gateway(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


MAP = {"arrival_s": "t", "input": "i", "output": "o", "request_id": "id", "retry_of": "before"}


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.integers(0, 3000).map(second),
            st.integers(0, 99).map(lambda number: second(number, "x,1")),
            st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=20),
            st.sampled_from(
                ['"', '1,"2', "a,b,c", "", "\0", "TIMESTAMP,ContextTokens,GeneratedTokens"]
            ),
        ),
        max_size=25,
    )
)
def test_rows_read_are_rows_kept_and_rows_dropped(rows: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = imported(Path(folder), azure(second(0), *rows))
        except BadInput as refusal:
            assert "twice" not in str(refusal)  # noqa: PT017 - nothing else may refuse
            raise
        report = found.report
        assert report.rows_read == report.rows_kept + sum(report.dropped.values())
        assert report.requests == report.rows_kept == len(found.rows)
        for reason, count in report.dropped.items():
            assert len(report.dropped_at[reason]) == min(3, count)


def test_a_request_id_that_comes_again_is_dropped_also_from_another_file(tmp_path: Path) -> None:
    first = gateway({"t": 0, "i": 1, "o": 1, "id": "a"}, {"t": 1, "i": 2, "o": 1, "id": "b"})
    again = gateway({"t": 1, "i": 2, "o": 1, "id": "b"}, {"t": 2, "i": 3, "o": 1, "id": "c"})
    found = imported(tmp_path, first, again, name="log.jsonl", mapping=MAP)
    assert found.report.dropped == {"a request that was read before": 1}
    (place,) = found.report.dropped_at["a request that was read before"]
    assert (place.file, place.line) == (2, 1)
    assert found.column("input_tokens") == [1, 2, 3]


def test_equal_rows_without_an_id_are_kept_and_counted(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(0), second(1), second(0), second(1), second(1)))
    assert found.report.identical_rows == 3
    assert found.report.requests == 5


def test_retries_point_to_the_attempt_before_even_where_it_is_logged_later(tmp_path: Path) -> None:
    log = gateway(
        {"t": 5, "i": 1, "o": 1, "id": "second", "before": "first"},
        {"t": 1, "i": 1, "o": 0, "id": "first"},
        {"t": 9, "i": 1, "o": 1, "id": "third", "before": "second"},
        {"t": 10, "i": 1, "o": 1, "id": "orphan", "before": "never logged"},
    )
    found = imported(tmp_path, log, name="log.jsonl", mapping=MAP)
    assert found.column("arrival_s") == [0.0, 4.0, 8.0, 9.0]
    assert found.column("retry_of") == [None, 0, 1, None]
    assert found.report.retries_unmatched == 1


def test_rows_out_of_order_are_put_in_order_and_counted(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(10), second(4), second(5), second(11), second(2)))
    assert found.column("arrival_s") == [0.0, 2.0, 3.0, 8.0, 9.0]
    assert found.report.clock.out_of_order == 3
    assert found.report.clock.largest_step_back_s == 9.0
    assert found.report.clock.largest_gap_s == 5.0


def nginx(*ends: tuple[int, float]) -> str:
    return "".join(
        f'192.0.2.7 - - [02/Mar/2026:10:00:{end:02} +0000] "POST /v1/completions HTTP/1.1" 200 5 '
        f'"-" "client" rt={taken:.3f}\n'
        for end, taken in ends
    )


def test_rows_written_as_requests_end_are_in_order_though_their_arrivals_are_not(
    tmp_path: Path,
) -> None:
    found = imported(tmp_path, nginx((10, 1), (20, 15), (20, 3), (30, 28)), name="access.log")
    assert found.column("arrival_s") == [0.0, 3.0, 7.0, 15.0]
    assert found.report.clock.out_of_order == 0
    mixed = imported(tmp_path, nginx((10, 1), (30, 28), (20, 1), (40, 1)), name="access.log")
    assert mixed.report.clock.out_of_order == 1
    assert mixed.report.clock.largest_step_back_s == 10.0


def test_requests_of_a_server_log_that_end_in_another_order_are_in_order(tmp_path: Path) -> None:
    settings = "params: SamplingParams(max_tokens=9)"
    log = "\n".join(
        (
            vllm_received("one", f"'a', {settings}", "[1]", 9, "03-02 09:00:10"),
            vllm_received("endless", f"'b', {settings}", "[1]", 9, "03-02 09:00:12"),
            vllm_received("two", f"'c', {settings}", "[1]", 9, "03-02 09:00:20"),
            "INFO 03-02 09:00:30 [async_llm.py:431] Request two aborted.",
            "INFO 03-02 09:00:40 [async_llm.py:431] Request one aborted.",
        )
    )
    found = imported(tmp_path, log, name="vllm.log")
    assert found.column("duration_s") == [30.0, None, 10.0]
    assert found.report.clock.out_of_order == 0


def test_buckets_of_usage_become_requests_with_exact_totals(tmp_path: Path) -> None:
    result = {"object": "organization.usage.completions.result", "input_tokens": 1003,
              "output_tokens": 98, "num_model_requests": 10, "model": "m"}  # fmt: skip
    bucket = {
        "object": "bucket",
        "start_time": 1715335200,
        "end_time": 1715335260,
        "results": [result],
    }
    found = imported(tmp_path, json.dumps({"object": "page", "data": [bucket]}), name="usage.json")
    assert (found.report.rows_read, found.report.rows_kept, found.report.requests) == (1, 1, 10)
    assert found.column("input_tokens") == [101, 101, 101, 100, 100, 100, 100, 100, 100, 100]
    assert sum(found.column("output_tokens")) == 98
    assert found.column("arrival_s") == [6.0 * place for place in range(10)]
    assert found.imported.stored is not None
    assert found.imported.stored.metadata.basis == {"input_tokens": "mean", "output_tokens": "mean"}
    assert found.report.identical_rows == 0


def test_a_day_without_arrivals_is_said(tmp_path: Path) -> None:
    found = imported(tmp_path, azure("2024-05-08 10:00:00,1,1", second(0), second(1)))
    assert found.report.clock.gaps_over_a_day == 1
    assert found.report.clock.largest_gap_s == 172_800.0


def test_progress_grows_to_the_size_of_all_files(tmp_path: Path) -> None:
    sizes = []
    for name, rows in (("a", 5000), ("b", 3000)):
        content = azure(*(second(number % 3600) for number in range(rows)))
        (tmp_path / name).write_text(content)
        sizes.append(len(content))
    seen: list[tuple[int, int]] = []
    import_logs(
        [str(tmp_path / name) for name in "ab"],
        tmp_path / "w.parquet",
        progress=lambda done, whole: seen.append((done, whole)),
    )
    assert seen == sorted(seen)
    assert {whole for _, whole in seen} == {sum(sizes)}
    assert seen[-1] == (sum(sizes), sum(sizes))


def test_fields_of_a_form_that_no_parser_expects_are_counted(tmp_path: Path) -> None:
    log = '{"timestamp": 0, "input_length": 7, "output_length": 1, "hash_ids": [5]}\n' + gateway(
        {"timestamp": 1, "input_length": [1], "output_length": 1, "hash_ids": [5]},
        {"timestamp": 1, "output_length": 1, "hash_ids": [5]},
        {"timestamp": {"a": 1}, "input_length": 7, "output_length": 1, "hash_ids": [5]},
        {"timestamp": 10**400, "input_length": 7, "output_length": 1, "hash_ids": [5]},
    )
    found = imported(tmp_path, log, name="log.jsonl")
    assert found.report.requests == 1
    assert sum(found.report.dropped.values()) == 4
    assert not any("[1]" in reason or "400" in reason for reason in found.report.dropped)


def test_a_mistake_beyond_the_parser_is_not_taken_for_an_odd_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_collector: Collector, _request: RawRequest) -> str:
        raise TypeError("a mistake")

    monkeypatch.setattr(Collector, "add", broken)
    with pytest.raises(TypeError, match="a mistake"):
        imported(tmp_path, azure(second(0)))


def test_the_report_is_stored_with_the_workload(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(0), "x,1,2"))
    assert found.imported.stored is not None
    stored = found.imported.stored.metadata
    assert stored.loss["dropped"] == {"TIMESTAMP is neither a date nor a number": 1}
    assert stored.formats == {"azure-llm": 1}
    assert stored.history == ("Imported from azure-llm.",)
    assert stored.basis == {"input_tokens": "measured", "output_tokens": "measured"}
    assert str(tmp_path) not in stored.to_json()
