"""Whatever is changed is found, and named."""

import json
import random
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sealed_runs import PLAN, signed, wrong
from vramledger.bundle.archive import ordered, unpack, write_archive
from vramledger.bundle.canonical import canonical_bytes, with_hash
from vramledger.bundle.keys import PublicKey, new_key, read_private, read_public
from vramledger.bundle.manifest import file_entries, files_in, sign
from vramledger.bundle.verifying import Wanted, verify
from vramledger.errors import BadInput

CORRUPTIONS = 500
AGAIN = "From the raw records comes another verdict: its lines are judged otherwise."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed bundle with its key."""
    folder = tmp_path_factory.mktemp("sealed")
    signed(folder)
    return folder


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """The bundle, unpacked."""
    place = tmp_path / "unpacked"
    place.mkdir()
    unpack(home / "bundle.zip", place)
    return place


@pytest.fixture(scope="module")
def key(home: Path) -> PublicKey:
    return read_public(str(home / "key.pub"))


def test_random_corruptions_of_an_archive_are_all_found(home: Path, tmp_path: Path) -> None:
    whole = (home / "bundle.zip").read_bytes()
    draw = random.Random(20261201)
    path = tmp_path / "corrupt.zip"
    for number in range(CORRUPTIONS):
        found = whole
        while found == whole:
            found = draw.choice(_WAYS)(whole, draw)
        path.write_bytes(found)
        try:
            assert wrong(verify(path)), f"corruption {number} was not found"
        except BadInput:
            continue


def _flipped(whole: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(whole))
    return whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1 :]


def _cut_out(whole: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(whole))
    return whole[:at] + whole[at + draw.randint(1, 400) :]


def _put_in(whole: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(whole) + 1)
    return whole[:at] + draw.randbytes(draw.randint(1, 400)) + whole[at:]


def _cut_off(whole: bytes, draw: random.Random) -> bytes:
    return whole[: draw.randrange(len(whole))]


def _moved(whole: bytes, draw: random.Random) -> bytes:
    one, two, three = sorted(draw.sample(range(len(whole) + 1), 3))
    return whole[:one] + whole[two:three] + whole[one:two] + whole[three:]


def _overwritten(whole: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(whole) - 64)
    return whole[:at] + draw.randbytes(64) + whole[at + 64 :]


_WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flipped, _flipped, _cut_out, _put_in, _cut_off, _moved, _overwritten,
)  # fmt: skip


def test_a_byte_is_named_by_its_file(folder: Path) -> None:
    path = folder / "runs/001/journal.jsonl"
    content = bytearray(path.read_bytes())
    content[5] ^= 1
    path.write_bytes(content)
    size = len(content)
    assert wrong(verify(folder)) == [
        ("files", f"runs/001/journal.jsonl was changed: the first other byte is one of 0 to {size - 1}."),
        ("runs", "runs/001/journal.jsonl was changed after the run was closed; use an unchanged copy."),
    ]  # fmt: skip


def test_a_record_is_named_by_its_row(folder: Path) -> None:
    _made_faster(folder)
    assert wrong(verify(folder))[0] == (
        "files",
        "runs/001/requests.parquet was changed: the first other row is one of 0 to 63.",
    )


def test_the_plan_is_named(folder: Path) -> None:
    (folder / "plan.yaml").write_text("name: another\n")
    assert [said for _, said in wrong(verify(folder))] == [
        "plan.yaml was changed: it has 14 bytes and had 156.",
        "plan.yaml is not the plan that run 001 was made for.",
        (
            "plan.yaml is no plan that this version reads: plan.yaml line 1: the plan lacks the key 'model'; add it. And 1 more; "
            "vram plan check plan.yaml lists them."
        ),
        "From the raw records comes another verdict: FAIL, and INCONCLUSIVE was sealed.",
    ]


def test_a_threshold_that_was_moved_is_named(folder: Path) -> None:
    (folder / "plan.yaml").write_text(PLAN.replace("p50: 0.6", "p50: 0.9"))
    assert [said for _, said in wrong(verify(folder))] == [
        "plan.yaml was changed: the first other byte is one of 0 to 155.",
        "plan.yaml is not the plan that run 001 was made for.",
        "Run 001 was held to another ttft_s than plan.yaml promises for its scenario chat.",
        AGAIN,
    ]


def test_a_file_that_is_gone_or_added_is_named(folder: Path) -> None:
    (folder / "environment.json").unlink()
    (folder / "notes.txt").write_text("all well")
    said = [said for _, said in wrong(verify(folder))]
    assert "environment.json is gone." in said
    assert "notes.txt was added: the manifest lists none." in said


def test_a_link_in_a_files_place_is_named(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.json"
    shutil.move(folder / "verdict.json", elsewhere)
    (folder / "verdict.json").symlink_to(elsewhere)
    assert wrong(verify(folder)) == [
        ("files", "verdict.json is no regular file any more, so nothing in the folder was read.")
    ]


def test_the_order_of_an_archives_files_is_named(folder: Path, tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "turned.zip"
    names = ordered(files_in(folder))
    names[2], names[3] = names[3], names[2]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, (folder / name).read_bytes())
    assert wrong(verify(path)) == [
        ("order", "The archive has environment.json where configuration.json was.")
    ]


def test_the_order_of_the_manifest_is_named(folder: Path) -> None:
    document = json.loads((folder / "manifest.json").read_bytes())
    document["files"].reverse()
    (folder / "manifest.json").write_bytes(canonical_bytes(with_hash(document)))
    assert [name for name, _ in wrong(verify(folder))][:2] == ["signature", "order"]


def test_a_signature_that_was_taken_off_is_missed(folder: Path) -> None:
    (folder / "signature.json").unlink()
    assert wrong(verify(folder)) == [
        ("signature", "signature.json is gone, and the manifest was signed.")
    ]


def test_who_seals_anew_has_another_key(folder: Path, key: PublicKey, tmp_path: Path) -> None:
    _made_faster(folder)
    _sealed_anew(folder, tmp_path / "forger")
    found = wrong(verify(folder, Wanted(key)))
    assert found[0][0] == "signature"
    assert found[1] == (
        "runs",
        "runs/001/requests.parquet was changed after the run was closed; use an unchanged copy.",
    )


def test_a_verdict_that_the_records_do_not_come_to_is_named(folder: Path, tmp_path: Path) -> None:
    path = folder / "verdict.json"
    document = json.loads(path.read_bytes())
    document["verdict"] = "PASS"
    path.write_bytes(canonical_bytes(document))
    _sealed_anew(folder, tmp_path / "forger")
    assert wrong(verify(folder)) == [
        (
            "verdict",
            "From the raw records comes another verdict: INCONCLUSIVE, and PASS was sealed.",
        )
    ]


def test_a_simulated_run_under_a_trials_manifest_is_named(folder: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from sealed_runs import contracted
    from vramledger.bundle.sealing import seal
    from vramledger.record.document import Origin

    asked = contracted(tmp_path / "s", origin=Origin.SIMULATED)
    out = seal(replace(asked, exercise=True, out=tmp_path / "exercise")).path
    document = json.loads((out / "manifest.json").read_bytes()) | {"kind": "trial"}
    (out / "manifest.json").write_bytes(canonical_bytes(with_hash(document)))
    assert wrong(verify(out)) == [("runs", "runs/001 is simulated, and is offered as a trial.")]
    del folder


def _made_faster(folder: Path) -> None:
    """One request is answered sooner than it was."""
    path = folder / "runs/001/requests.parquet"
    table = pq.read_table(path)
    rows: list[dict[str, Any]] = table.to_pylist()
    rows[1]["dispatched_s"] += 0.0005
    pq.write_table(table.from_pylist(rows, table.schema), path)


def _sealed_anew(folder: Path, key: Path) -> None:
    """The whole manifest made again, and signed by another key."""
    public = new_key(key)
    path = folder / "manifest.json"
    document = json.loads(path.read_bytes())
    document |= {"files": file_entries(folder), "key": public.line}
    path.write_bytes(canonical_bytes(with_hash(document)))
    sign(folder, read_private(key))


def test_an_archive_is_the_same_when_packed_again(home: Path, folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.zip"
    with again.open("xb") as stream:
        write_archive(folder, files_in(folder), stream)
    assert (
        sha256(again.read_bytes()).digest() == sha256((home / "bundle.zip").read_bytes()).digest()
    )
