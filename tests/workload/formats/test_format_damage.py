"""Whatever stands in a field: a record is read, or dropped with a reason that quotes nothing of it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.workload.formats.format import Clock, Context, Framing, Head, LogFormat, Record
from vramledger.workload.formats.registry import format_named, formats
from vramledger.workload.framing.frame import framed
from vramledger.workload.framing.framed import Flaw
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.recognise import recognise
from workload_samples import TRACES

_SAID = "zq7-whatever-was-said"
_ODD = st.one_of(
    st.sampled_from(
        [
            None, True, False, 0, -1, 1.5, 10**30, 10**400, -(10**400), 1e300, float("nan"), float("inf"),
            "", " ", "12", "-3", "1e999", "2026-01-01T00:00:00Z", "99/99/9999", _SAID,
            [], [None], [[]], [{}], [_SAID], {}, {_SAID: _SAID}, "{", "[1,", "\ud800",
        ]
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=6,
    ),
)  # fmt: skip


class Opened(NamedTuple):
    """A sample as the parser gets it."""

    format: LogFormat
    head: Head
    records: list[Mapping[str, Any]]


@pytest.fixture(scope="module", params=sorted(TRACES))
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    sample = TRACES[request.param]
    path = tmp_path_factory.mktemp("damage") / sample.file_name
    path.write_bytes(sample.content)
    found = recognise(path)
    with framed(path, found.head.framing) as file:
        records = [row.values for row in file.rows if not isinstance(row, Flaw)]
    return Opened(found.format, found.head, records)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in a record, at any depth."""
    if path:
        yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in inner:
        yield from _places(each, (*path, key))


def _with(record: Mapping[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(record))
    place: Any = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copy


def _read(log_format: LogFormat, head: Head, record: Mapping[str, Any]) -> list[str]:
    """Reasons and sentences that a record gave; fails where a request holds what no request can."""
    told: list[str] = []
    parser = log_format.parser(Context(head, infer=told.append, assume=told.append))
    requests: list[RawRequest] = []
    try:
        for row in log_format.rows_of(Record(7, record)):
            try:
                requests.extend(parser.parse(row))
            except RowProblem as problem:
                told.append(problem.reason)
    except RowProblem as problem:
        told.append(problem.reason)
    requests.extend(parser.finish())
    for each in requests:
        for count in (each.input_tokens, each.output_tokens, each.cached_tokens, each.turn):
            assert count is None or count >= 0
        for time in (each.duration_ns, each.first_token_ns, each.think_ns, each.cancel_after_ns):
            assert time is None or time >= 0
        for identity in (each.session, each.tenant, each.model, each.request_id):
            assert identity is None or isinstance(identity, str)
    return told


@given(data=st.data())
def test_any_value_in_any_field_is_read_or_dropped_with_a_fixed_reason(
    opened: Opened, data: st.DataObject
) -> None:
    record = data.draw(st.sampled_from(opened.records))
    place = data.draw(st.sampled_from(list(_places(record))))
    for told in _read(opened.format, opened.head, _with(record, place, data.draw(_ODD))):
        assert _SAID not in told


@given(data=st.data())
def test_no_format_stumbles_over_a_damaged_beginning(opened: Opened, data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(opened.records))
    place = data.draw(st.sampled_from(list(_places(record))))
    damaged = _with(record, place, data.draw(_ODD))
    head = Head(opened.head.framing, opened.head.columns, (damaged,))
    for each in formats():
        each.recognise(head)
        size = each.block_tokens_of(head)
        assert size is None or size > 0
        assert isinstance(each.clock_of(head), Clock)


@pytest.mark.parametrize("name", sorted(TRACES))
@given(record=st.dictionaries(st.text(max_size=8), _ODD, max_size=4))
def test_a_foreign_record_under_a_stated_format_is_dropped(
    name: str, record: dict[str, Any]
) -> None:
    log_format = format_named(name)
    for told in _read(log_format, Head(Framing.JSONL, records=(record,)), record):
        assert _SAID not in told
    assert not log_format.recognise(Head(Framing.JSONL, records=(record,)))
