"""Retries keep the turn of their first attempt; ids made up for one call name no session."""

from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from imported_logs import Result, imported
from vramledger.workload.attempts import first_attempts
from workload_log_samples import csv_of, failed_payload, payload, spend
from workload_samples import jsonl

_ZERO = 1772442000
_LONE = (
    "Ids of sessions or traces that only one call has (retries apart) are taken as made up for the "
    "call, and for no session (inferred)."
)


def _failed(trace: str, name: str, at: int) -> dict[str, object]:
    return failed_payload(trace_id=trace, id=name, startTime=_ZERO + at, endTime=_ZERO + at + 1)


def _call(trace: str, name: str, at: int, **changed: object) -> dict[str, object]:
    times = {"startTime": _ZERO + at, "endTime": _ZERO + at + 2}
    return payload(**times, completionStartTime=_ZERO + at + 1, trace_id=trace, id=name, **changed)


def _imported(folder: Path, *records: dict[str, object]) -> Result:
    return imported(folder, jsonl(*records), name="payload.jsonl")


def test_a_retry_has_the_turn_of_its_first_attempt_and_no_time_to_think(tmp_path: Path) -> None:
    found = _imported(
        tmp_path,
        _call("talk", "a", 0),
        _failed("talk", "b", 10),
        _failed("talk", "c", 20),
        _call("talk", "d", 30),
        _call("talk", "e", 40),
    )
    assert found.column("retry_of") == [None, None, 1, 2, None]
    assert found.column("turn") == [0, 1, 1, 1, 2]
    assert found.column("think_s") == [None, 8.0, None, None, 8.0]
    assert found.column("session") == [0] * 5


def test_a_retry_that_other_turns_overtook_has_its_first_attempt_s_turn_still(
    tmp_path: Path,
) -> None:
    rows = [
        {"t": 0, "i": 1, "o": 1, "s": "x", "id": "a", "before": None},
        {"t": 1, "i": 1, "o": 1, "s": "x", "id": "b", "before": None},
        {"t": 2, "i": 1, "o": 1, "s": "x", "id": "c", "before": "a"},
        {"t": 3, "i": 1, "o": 1, "s": "x", "id": "d", "before": "c"},
        {"t": 4, "i": 1, "o": 1, "s": "y", "id": "e", "before": "d"},
    ]
    mapping = {"arrival": "t", "input": "i", "output": "o", "session": "s", "request_id": "id",
               "retry_of": "before"}  # fmt: skip
    found = imported(tmp_path, jsonl(*rows), name="log.jsonl", mapping=mapping)
    assert found.column("turn") == [0, 1, 0, 0, 0]


def test_a_trace_of_one_call_and_its_retries_is_no_session(tmp_path: Path) -> None:
    found = _imported(
        tmp_path, _failed("lone", "a", 0), _call("lone", "b", 5), _call("other", "c", 9)
    )
    assert found.column("session") == [None] * 3
    assert found.column("turn") == [None] * 3
    assert found.column("think_s") == [None] * 3
    assert found.column("retry_of") == [None, 0, None]
    assert _LONE in found.report.inferred


def test_a_trace_of_two_calls_is_a_session_beside_those_of_one(tmp_path: Path) -> None:
    calls = [("lone", "a"), ("talk", "b"), ("alone", "c"), ("talk", "d")]
    found = _imported(tmp_path, *(_call(*call, 10 * at) for at, call in enumerate(calls)))
    assert found.column("session") == [None, 0, None, 0]
    assert found.column("turn") == [None, 0, None, 1]


def test_a_session_that_is_named_may_have_one_call(tmp_path: Path) -> None:
    found = _imported(tmp_path, _call("trace", "a", 0, session_id="named"))
    assert found.column("session") == [0]
    assert _LONE not in found.report.inferred


def test_sessions_that_the_table_made_up_for_one_call_are_none(tmp_path: Path) -> None:
    rows = [spend(request_id=name, session_id=session)
            for name, session in (("a", "talk"), ("b", "lone"), ("c", "talk"))]  # fmt: skip
    found = imported(tmp_path, csv_of(*rows), name="spend.csv")
    assert found.column("session") == [0, None, 0]


def test_kept_session_ids_leave_out_those_that_are_none(tmp_path: Path) -> None:
    calls = [("lone", "a"), ("talk", "b"), ("talk", "c")]
    log = jsonl(*(_call(*call, 10 * at) for at, call in enumerate(calls)))
    found = imported(tmp_path, log, name="p.jsonl", keep=frozenset({"session"}))
    assert found.imported.stored is not None
    assert found.imported.stored.metadata.kept == {"session": ["talk"]}


@given(st.lists(st.integers(0, 30), max_size=30), st.randoms())
def test_first_attempts_are_those_that_walking_back_finds(
    before: list[int], shuffle: object
) -> None:
    pairs = {row: at for row, at in enumerate(before, 1) if at < row}  # no circle
    order = list(pairs)
    shuffle.shuffle(order)  # type: ignore[attr-defined]
    table = pa.table(
        {
            "row": pa.array(order, pa.int64()),
            "retry_of": pa.array([pairs[row] for row in order], pa.int64()),
        }
    )
    found = {each["row"]: each["first"] for each in first_attempts(table).to_pylist()}
    for row in pairs:
        at = row
        while at in pairs:
            at = pairs[at]
        assert found[row] == at


def test_attempts_that_name_each_other_come_to_an_end() -> None:
    table = pa.table({"row": [1, 2], "retry_of": [2, 1]})
    assert first_attempts(table).num_rows == 2
