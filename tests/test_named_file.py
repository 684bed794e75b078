"""Named files: regular, bounded, opened without waiting."""

import socket
from pathlib import Path

import pytest

from vramledger.errors import BadInput
from vramledger.named_file import opened, read_bytes, read_text


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read_text(path, 100, "a plan")
    return str(caught.value)


def test_a_file_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfname: x")
    assert read_text(path, 100, "a plan") == "name: x"


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(100))
    assert read_bytes(path, 100, "a plan") == bytes(100)
    path.write_bytes(bytes(101))
    assert refusal(path) == (
        f"{path} has 101 bytes, far more than a plan, which stays under 100; name the right file."
    )


def test_a_file_that_says_it_is_empty_is_read_within_the_bound() -> None:
    with pytest.raises(BadInput, match="far more than a plan"):
        read_bytes(Path("/proc/self/status"), 100, "a plan")  # its size is given as 0


def test_a_socket_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        assert refusal(path) == (
            f"{path} cannot be read: No such device or address; check the file."
        )


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    assert refusal(Path(name)) == f"{name!r} cannot be the name of a file; check its path."


def test_nothing_stays_open_after_a_refusal(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        refusal(tmp_path)
    with opened(Path(__file__), "a test") as file:
        assert file.size == Path(__file__).stat().st_size
    assert len(list(Path("/proc/self/fd").iterdir())) == before
