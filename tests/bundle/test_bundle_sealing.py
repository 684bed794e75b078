"""What is sealed, and what is refused."""

import json
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recorded_runs import measured_run
from recorded_trials import small_trial
from sealed_runs import PLAN, contracted, signed, wrong
from vramledger.bundle.keys import new_key, public_key, read_private, read_public
from vramledger.bundle.sealing import seal
from vramledger.bundle.verifying import Wanted, opened_bundle, verify
from vramledger.errors import BadInput
from vramledger.record.document import Origin

NOW = datetime(2024, 12, 1, tzinfo=UTC)


def test_a_bundle_holds_what_is_needed_to_argue(tmp_path: Path) -> None:
    sealed = seal(contracted(tmp_path), NOW)
    with opened_bundle(sealed.path) as opened:
        assert opened.names is not None
        assert opened.names[0] == "manifest.json"
        assert [n for n in opened.names if "/" not in n] == [
            "manifest.json", "configuration.json", "environment.json", "plan.yaml", "software.json", "verdict.json",
        ]  # fmt: skip
        assert (opened.folder / "plan.yaml").read_text() == PLAN
        manifest = json.loads((opened.folder / "manifest.json").read_bytes())
        verdict = json.loads((opened.folder / "verdict.json").read_bytes())
    assert manifest["people"] == {"ran_by": "Ann", "watched_by": "Bob", "sealed_by": "Cy"}
    assert manifest["sealed_at"] == "2024-12-01T00:00:00Z"
    (load,) = (each["path"] for each in manifest["files"] if each["path"].startswith("workloads"))
    (repeat,) = sealed.repeat
    assert repeat.needs == ()
    assert repeat.command == (
        f"vram trial run plan.yaml --url URL --scenario chat --workload {load} --seed 0 --rate-scale 1.0 --model m "
        "--token-ids --drain 60.0s --interval 0.25s --workers 1"
    )
    assert verdict["verdict"] == "INCONCLUSIVE"  # of four requests nothing follows
    assert verdict["accepted"]["verdict"] == "INCONCLUSIVE"
    assert verdict["not_accepted"] is None
    assert verdict["runs"][0]["verdict"] == "FAIL"  # three of four were answered, 0.9 promised
    assert [each["verdict"] for each in verdict["runs"][0]["lines"]] == ["PASS", "FAIL"]


def test_equal_runs_are_equal_bytes_and_unpacked_or_not_the_same(tmp_path: Path) -> None:
    asked = contracted(tmp_path)
    one = seal(asked, NOW).path.read_bytes()
    assert seal(replace(asked, out=tmp_path / "again.zip"), NOW).path.read_bytes() == one
    folder = seal(replace(asked, out=tmp_path / "folder"), NOW)
    found = verify(folder.path, Wanted(sha256=folder.sha256))
    assert found.unchanged
    assert found.verdict == folder.verdict


def test_a_signed_bundle_names_its_key_and_another_is_refused(tmp_path: Path) -> None:
    path = signed(tmp_path)
    key = read_public(str(tmp_path / "key.pub"))
    found = verify(path, Wanted(key))
    assert wrong(found) == []
    assert found.signed_by == key
    other = new_key(tmp_path / "other")
    assert wrong(verify(path, Wanted(other))) == [
        ("signature", f"It is signed by {key.fingerprint}, not by {other.fingerprint}.")
    ]


def test_an_unsigned_bundle_says_so_and_fails_where_a_signature_is_wanted(tmp_path: Path) -> None:
    path = seal(contracted(tmp_path)).path
    (said,) = (each.said for each in verify(path).checks if each.name == "signature")
    assert said == (
        "It is not signed: whoever changed a file could have sealed it anew; compare the bundle's hash with one that you "
        "got from elsewhere (--hash)."
    )
    key = new_key(tmp_path / "key")
    assert wrong(verify(path, Wanted(key))) == [
        ("signature", f"It is not signed, and should be by {key.fingerprint}.")
    ]
    assert [name for name, _ in wrong(verify(path, Wanted(sha256="0" * 64)))] == ["manifest"]


@pytest.mark.parametrize("origin", [Origin.SIMULATED, Origin.REHEARSED, Origin.IMPORTED])
def test_what_was_not_measured_is_no_trial(tmp_path: Path, origin: Origin) -> None:
    asked = contracted(tmp_path, origin=origin)
    with pytest.raises(BadInput) as refused:
        seal(asked)
    assert str(refused.value) == (
        f"{asked.runs[0]} is {origin.value}, and so no trial of a server: it cannot be sealed as one; measure with vram "
        "trial run, or seal it with --exercise, which says on every page what it is."
    )
    assert not asked.out.exists()
    sealed = seal(replace(asked, exercise=True))
    assert sealed.kind == "exercise"
    assert verify(sealed.path).unchanged


def test_a_changed_run_is_not_sealed(tmp_path: Path) -> None:
    asked = contracted(tmp_path)
    journal = asked.runs[0] / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b"\n")
    with pytest.raises(BadInput, match="was changed after the run was closed"):
        seal(asked)
    assert not asked.out.exists()


def test_a_workload_that_is_not_at_hand_is_asked_for(tmp_path: Path) -> None:
    asked = replace(contracted(tmp_path), workloads=())
    with pytest.raises(BadInput) as refused:
        seal(asked)
    assert "and without its load nobody can repeat the run; name its file with --workload." in str(
        refused.value
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_run_without_contract_or_trial_is_inconclusive(tmp_path: Path) -> None:
    asked = contracted(tmp_path)
    small_trial(tmp_path / "other")
    runs = (measured_run(tmp_path / "bare").path,)
    sealed = seal(replace(asked, runs=runs))
    assert sealed.verdict["verdict"] == "INCONCLUSIVE"
    assert verify(sealed.path).unchanged


def test_a_private_key_is_its_owners_and_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "key"
    public = new_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert public_key((tmp_path / "key.pub").read_text().strip()) == public
    with pytest.raises(BadInput, match="a key is never replaced"):
        new_key(path)
    path.chmod(0o644)
    with pytest.raises(BadInput, match="is a private key that others can read"):
        read_private(path)


def test_no_private_key_reaches_a_bundle(tmp_path: Path) -> None:
    path = signed(tmp_path)
    secret = read_private(tmp_path / "key").private_bytes_raw()
    content = path.read_bytes()
    assert secret not in content
    assert secret.hex().encode() not in content
