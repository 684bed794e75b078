"""Archives that no bundle is: nothing of them is unpacked."""

import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from vramledger.bundle import archive
from vramledger.bundle.archive import unpack
from vramledger.errors import BadInput


def _packed(path: Path, *entries: zipfile.ZipInfo, content: bytes = b"x") -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as packed:
        warnings.simplefilter("ignore")  # names that come twice
        for entry in entries:
            packed.writestr(entry, content)
    return path


def _entry(
    name: str, mode: int = stat.S_IFREG | 0o644, kind: int = zipfile.ZIP_STORED
) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name)
    found.create_system, found.external_attr, found.compress_type = 3, mode << 16, kind
    return found


def _refused(path: Path, tmp_path: Path) -> str:
    target = tmp_path / "out"
    target.mkdir()
    with pytest.raises(BadInput) as refused:
        unpack(path, target)
    assert list(target.iterdir()) == []
    assert [each.name for each in tmp_path.iterdir() if each not in (path, target)] == []
    return str(refused.value).removeprefix(f"{path} ")


END = "; nothing of it was used: it was not made by vram verify --seal, or was changed since."


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../evil", "leads out of the bundle"),
        ("runs/../../evil", "leads out of the bundle"),
        ("/etc/evil", "leads out of the bundle"),
        ("C:evil", "leads out of the bundle"),
        ("..\\evil", "leads out of the bundle"),
        ("runs//evil", "is a name that not every file system takes"),
        ("./evil", "is a name that not every file system takes"),
        ("evil\u202egpj", "is a name that not every file system takes"),
        ("evil.", "is a name that not every file system takes"),
        ("runs/nul.txt", "is the name of a device"),
    ],
)
def test_names_that_lead_elsewhere(tmp_path: Path, name: str, why: str) -> None:
    said = _refused(_packed(tmp_path / "a.zip", _entry("manifest.json"), _entry(name)), tmp_path)
    assert said.endswith(f", which {why}{END}")


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        (stat.S_IFLNK | 0o777, "is a link"),
        (stat.S_IFDIR | 0o755, "is no regular file"),
        (stat.S_IFCHR | 0o644, "is no regular file"),
        (stat.S_IFIFO | 0o644, "is no regular file"),
        (0, "is no regular file"),
    ],
)
def test_what_is_no_file(tmp_path: Path, mode: int, why: str) -> None:
    if mode == 0:
        entry = _entry("runs/")
        entry.external_attr = 0x10
    else:
        entry = _entry("evil", mode)
    said = _refused(
        _packed(tmp_path / "a.zip", entry, content=b"" if mode == 0 else b"/"), tmp_path
    )
    assert said == f"has the entry {entry.filename!r}, which {why}{END}"


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = _packed(
        tmp_path / "a.zip", _entry("bomb", kind=zipfile.ZIP_DEFLATED), content=bytes(1 << 22)
    )
    assert path.stat().st_size < 1 << 14
    assert _refused(path, tmp_path) == (
        f"has the entry 'bomb', which is packed, and in a bundle nothing is{END}"
    )


def test_entries_that_overlap_are_more_than_the_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(_entry("one"), bytes(1 << 16))
        (first,) = packed.infolist()
        for name in ("two", "three"):
            other = _entry(name)
            other.header_offset, other.CRC = first.header_offset, first.CRC
            other.file_size = other.compress_size = first.file_size
            packed.filelist.append(other)
            packed.NameToInfo[name] = other
    assert _refused(path, tmp_path).startswith("has entries of 196,608 bytes in a file of ")


def test_names_that_are_one_file_somewhere(tmp_path: Path) -> None:
    path = _packed(tmp_path / "a.zip", _entry("Plan.yaml"), _entry("plan.yaml"))
    assert _refused(path, tmp_path) == (
        f"has both 'Plan.yaml' and 'plan.yaml', which are one file{END}"
    )


def test_a_name_that_comes_twice(tmp_path: Path) -> None:
    path = _packed(tmp_path / "a.zip", _entry("plan.yaml"), _entry("plan.yaml"))
    assert _refused(path, tmp_path).startswith("has both 'plan.yaml' and 'plan.yaml'")


def test_a_file_that_is_a_folder_too(tmp_path: Path) -> None:
    path = _packed(tmp_path / "a.zip", _entry("runs"), _entry("runs/001"))
    assert _refused(path, tmp_path) == f"has 'runs' as a file and as a folder{END}"


def test_too_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_FILES", 3)
    path = _packed(tmp_path / "a.zip", *(_entry(f"f{number}") for number in range(4)))
    assert _refused(path, tmp_path) == f"has 4 entries, and a bundle has at most 3{END}"


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    whole = _packed(tmp_path / "whole.zip", _entry("manifest.json"), _entry("a")).read_bytes()
    (tmp_path / "whole.zip").unlink()
    path = tmp_path / "a.zip"
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(BadInput) as refused:
            unpack(path, tmp_path)
        assert str(refused.value).endswith(
            "is no ZIP archive, or one that was cut off or changed; use an unchanged copy of the bundle."
        )
