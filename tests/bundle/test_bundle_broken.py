"""What a forger would try beyond chance: links, moments, signatures, types, files that change places."""

import json
import os
import random
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sealed_runs import signed, wrong
from vramledger.bundle.archive import unpack
from vramledger.bundle.canonical import canonical_bytes, with_hash
from vramledger.bundle.keys import new_key, read_private
from vramledger.bundle.manifest import file_entries, sign
from vramledger.bundle.verifying import Verified, verify
from vramledger.errors import BadInput, VramError
from vramledger.report.bundle import verified_text
from vramledger.report.bundle_json import verified_json


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed bundle as a folder; its key lies beside it."""
    home = tmp_path_factory.mktemp("whole")
    signed(home)
    (home / "bundle").mkdir()
    unpack(home / "bundle.zip", home / "bundle")
    return home / "bundle"


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(whole, tmp_path / "bundle"))


def test_a_folder_with_a_link_or_a_pipe_is_not_read(folder: Path, tmp_path: Path) -> None:
    (folder / "runs/002").symlink_to(tmp_path)
    assert wrong(verify(folder)) == [
        ("files", "runs/002 is no regular file any more, so nothing in the folder was read.")
    ]
    (folder / "runs/002").unlink()
    os.mkfifo(folder / "pipe.json")  # whoever opens it waits for ever
    assert wrong(verify(folder)) == [
        ("files", "pipe.json is no regular file any more, so nothing in the folder was read.")
    ]
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").symlink_to("/dev/zero")
    with pytest.raises(BadInput, match="is no bundle: it has no manifest"):
        verify(folder)


def test_a_seal_of_the_future_is_named(whole: Path) -> None:
    found = verify(whole, now=datetime(2020, 1, 1, tzinfo=UTC))
    ((name, said),) = wrong(found)
    assert name == "manifest"
    assert said.endswith(", which is still to come by this machine's clock.")


def test_two_files_that_changed_places_are_named(folder: Path) -> None:
    one, other = folder / "configuration.json", folder / "environment.json"
    size = max(one.stat().st_size, other.stat().st_size)
    for each in (one, other):  # of one size, so that no size tells
        each.write_bytes(each.read_bytes().ljust(size))
    _listed_anew(folder)
    one.rename(folder / "x")
    other.rename(one)
    (folder / "x").rename(other)
    said = [said for _, said in wrong(verify(folder))]
    assert (
        f"configuration.json was changed: the first other byte is one of 0 to {size - 1}." in said
    )
    assert "configuration.json does not say what the runs say." in said


def _listed_anew(folder: Path, **change: Any) -> None:
    path = folder / "manifest.json"
    document = json.loads(path.read_bytes()) | {"files": file_entries(folder)} | change
    path.write_bytes(canonical_bytes(with_hash(document)))


@pytest.mark.parametrize(
    "change",
    [
        {"signature": ""},
        {"signature": "00" * 64},
        {"schema": "vramledger.signature/2"},
        {"algorithm": "none"},
        {"key": "ssh-rsa AAAA"},
        {"key": "vram-ed25519 " + "A" * 43 + "="},  # a point of small order
        {"key": None},
        {"signature": None},
    ],
)
def test_a_signature_that_is_none(folder: Path, change: dict[str, Any]) -> None:
    path = folder / "signature.json"
    path.write_bytes(canonical_bytes(json.loads(path.read_bytes()) | change))
    assert wrong(verify(folder)) == [
        ("signature", "signature.json is no signature of this manifest.")
    ]


def test_another_key_that_signs_is_not_the_one_that_sealed(folder: Path, tmp_path: Path) -> None:
    other = new_key(tmp_path / "other")
    sign(folder, read_private(tmp_path / "other"))
    assert wrong(verify(folder)) == [
        ("signature", f"It is signed by {other.fingerprint}, which is not the key that sealed it.")
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"files": {}},
        {"files": [{"path": "../x", "bytes": 1, "sha256": "0" * 64, "pieces": ""}]},
        {"files": [[]]},
        {"runs": [{"folder": "runs/../..", "origin": "measured", "name": "a", "sha256": "0"}]},
        {"runs": [{"folder": "series/001/../x", "origin": "measured", "name": "a", "sha256": "0"}]},
        {"runs": 1},
        {"people": []},
        {"sealed_at": "tomorrow"},
        {"sealed_at": "9" * 400},
        {"kind": ["trial"]},
        {"key": 3},
    ],
)
def test_a_manifest_without_sense(folder: Path, change: dict[str, Any]) -> None:
    _listed_anew(folder, **change)
    assert wrong(verify(folder)) == [
        ("manifest", "manifest.json was changed: it does not have the hash it states, or is none.")
    ]


@pytest.mark.parametrize(
    "content",
    [b'{"a":NaN}', b'{"a":1e999}', b"[" * 100_000, b'{"a":' * 5000, b"\xff\xfe", b"", b"9" * 5000],
)
def test_a_manifest_that_is_no_json_of_ours(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    assert [name for name, _ in wrong(verify(folder))] == ["manifest"]


_DOCUMENTS = ("manifest.json", "signature.json", "verdict.json", "software.json", "runs/001/run.json")  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, (1 << 53) - 1, 1e308, "", "x" * 5000, "../../x", "/x", "a\nb", "\u202e", [], {}, [[[]]], {"a": [1]},
)  # fmt: skip


def _spots(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # fmt: skip
    return [above, *(spot for key, each in inner for spot in _spots(each, (*above, key)))][1 if not above else 0 :]  # fmt: skip


def _put(document: Any, spot: tuple[Any, ...], value: Any) -> None:
    for key in spot[:-1]:
        document = document[key]
    document[spot[-1]] = value


def test_any_value_of_another_type_is_found_and_breaks_nothing(whole: Path, tmp_path: Path) -> None:
    draw = random.Random(20261203)
    for number in range(40):
        folder = Path(shutil.copytree(whole, tmp_path / str(number)))
        path = folder / draw.choice(_DOCUMENTS)
        before = json.loads(path.read_bytes())
        document, value = json.loads(path.read_bytes()), draw.choice(_VALUES)
        _put(document, draw.choice(_spots(document)), value)
        if document == before:
            continue
        hashed = path.name == "manifest.json" and number % 2
        path.write_bytes(canonical_bytes(with_hash(document) if hashed else document))
        if path.name != "manifest.json" and number % 3:
            _listed_anew(folder)
        try:
            assert wrong(_shown(verify(folder))), f"{path.name}, case {number}"
        except VramError:
            continue


def _shown(found: Verified) -> Verified:
    """What was found, printed in both ways."""
    assert verified_text(found)
    assert json.dumps(verified_json(found))
    return found
