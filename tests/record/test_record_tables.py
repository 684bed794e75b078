"""Records and tables have the same columns, in the same order, and nothing is lost between them."""

from dataclasses import fields

import pyarrow as pa
import pytest

from recorded_runs import measured_request, metric
from vramledger.record.outcome import Outcome
from vramledger.record.requests import OUTCOMES, RequestRecord
from vramledger.record.samples import Sample
from vramledger.record.table import Table, arrow_schema
from vramledger.record.tables import ROW_TYPES, TABLES, batch_of


@pytest.mark.parametrize(
    ("record", "table"),
    ROW_TYPES.items(),
    ids=lambda each: each.__name__ if isinstance(each, type) else each.name,
)
def test_a_record_has_a_field_for_each_column(record: type, table: Table) -> None:
    assert {field.name for field in fields(record)} == set(table.columns)


def test_requests_are_given_in_the_order_of_their_columns() -> None:
    table = ROW_TYPES[RequestRecord]
    assert tuple(field.name for field in fields(RequestRecord)) == tuple(table.columns)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_column_says_what_null_means_exactly_where_it_may_be_null(table: Table) -> None:
    for field in arrow_schema(table):
        assert field.nullable == bool(table.columns[field.name].null)
    assert set(table.order) <= {name for name, column in table.columns.items() if not column.null}


def test_a_request_comes_back_as_it_was() -> None:
    record = measured_request(3, 1.5, (0, 20, 50), error_class="reset", http_status=500)
    batch = batch_of(ROW_TYPES[RequestRecord], [record])
    (row,) = batch.to_pylist()
    assert row == {name: _plain(getattr(record, name)) for name in row}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def test_no_rows_make_an_empty_batch() -> None:
    assert len(batch_of(ROW_TYPES[Sample], [])) == 0


def test_a_value_that_does_not_fit_is_an_error() -> None:
    record = measured_request(3, 1.5, (0,), input_tokens_got=1 << 40)
    with pytest.raises(pa.ArrowInvalid):
        batch_of(ROW_TYPES[RequestRecord], [record])


def test_a_run_always_knows_how_a_request_ended() -> None:
    assert Outcome.UNKNOWN not in OUTCOMES
    assert [each.value for each in OUTCOMES] == [
        "ok",
        "failed",
        "rejected",
        "cancelled",
        "timed_out",
        "incomplete",
    ]


def test_a_sample_needs_no_common_name() -> None:
    (row,) = batch_of(ROW_TYPES[Sample], [metric(1.0, 4.0)]).to_pylist()
    assert (row["name"], row["raw_name"], row["kind"]) == (
        None,
        "vllm:num_requests_running",
        "gauge",
    )
