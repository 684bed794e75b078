"""A segment that ends anywhere gives back every batch before that point, and never an error."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recorded_runs import measured_request
from vramledger.record.requests import REQUESTS
from vramledger.record.segments import FOLDER, Segment, segments, whole_batches

ROWS, BATCH = 60, 12


def numbers(path: Path) -> list[int]:
    return [
        row for batch in whole_batches(REQUESTS, [path]) for row in batch["request_id"].to_pylist()
    ]


def written(folder: Path, writer: str = "main", *, closed: bool = True) -> Path:
    segment = Segment(folder, REQUESTS, REQUESTS.name, writer)
    for number in range(ROWS):
        segment.append(measured_request(number, float(number), (0, number + 1)))
        if number % BATCH == BATCH - 1:
            segment.flush()
    if closed:
        segment.close()
    else:
        segment.abandon()
    return segments(folder, REQUESTS.name)[-1]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("run"))


@pytest.mark.parametrize("closed", [True, False])
def test_all_that_was_flushed_is_there(tmp_path: Path, closed: bool) -> None:  # noqa: FBT001
    assert numbers(written(tmp_path, closed=closed)) == list(range(ROWS))


@settings(max_examples=200)
@given(st.integers(0))
def test_wherever_it_ends_whole_batches_stay(
    original: Path, tmp_path_factory: pytest.TempPathFactory, place: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "segment"
    content = original.read_bytes()
    kept = place % (len(content) + 1)
    path.write_bytes(content[:kept])
    found = numbers(path)
    assert found == list(range(len(found)))
    assert len(found) % BATCH == 0
    assert len(found) >= int(ROWS * (kept / len(content) - 0.25))


@settings(max_examples=200)
@given(st.integers(0), st.integers(1, 255))
@example(place=2032, flip=1)  # in the name of a column
def test_whichever_byte_is_damaged_there_are_rows_and_no_error(
    original: Path, tmp_path_factory: pytest.TempPathFactory, place: int, flip: int
) -> None:
    path = tmp_path_factory.mktemp("flipped") / "segment"
    content = bytearray(original.read_bytes())
    content[place % len(content)] ^= flip
    path.write_bytes(content)
    assert len(numbers(path)) <= ROWS


def test_segments_are_read_in_the_order_of_their_making(tmp_path: Path) -> None:
    for writer in ("w2", "main", "w1"):
        written(tmp_path, writer)
    assert [path.name for path in segments(tmp_path, "requests")] == [
        "requests.w2.0001.arrows",
        "requests.main.0002.arrows",
        "requests.w1.0003.arrows",
    ]
    assert segments(tmp_path, "begun") == ()
    assert (tmp_path / FOLDER).is_dir()
