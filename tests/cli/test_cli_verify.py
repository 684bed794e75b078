"""`vram verify` as a command: exit codes, JSON, and sentences."""

import json
from pathlib import Path

import pytest

from commands import said, vram_here
from sealed_runs import contracted


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    contracted(folder)
    words = ["verify", "--seal", "run", "--workload", "w.parquet", "-o", "b.zip"]
    done = vram_here(["verify", "--new-key", "key", "--json"], folder)
    assert done.returncode == 0
    assert json.loads(done.stdout)["schema"] == "vramledger.key/1"
    done = vram_here([*words, "--key", "key", "--ran-by", "Ann", "--json"], folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == "vramledger.sealed/1"
    return folder


def test_a_whole_bundle_holds(home: Path) -> None:
    done = vram_here(["verify", "b.zip", "--key", "key.pub"], home)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Unchanged since sealed by SHA256:")
    assert lines[-1] == (
        "This proves that nothing changed since it was sealed, not that the records are genuine."
    )


def test_a_changed_one_does_not(home: Path) -> None:
    content = bytearray((home / "b.zip").read_bytes())
    at = content.index(b"name: a plan")
    content[at + len("name: a ")] ^= 1
    (home / "c.zip").write_bytes(content)
    done = vram_here(["verify", "c.zip", "--json"], home)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["schema"], found["unchanged"]) == ("vramledger.verification/1", False)
    assert [c["message"] for c in found["checks"] if c["standing"] == "fails"] == [
        "plan.yaml was changed: the first other byte is one of 0 to 155.",
        "plan.yaml is not the plan that run 001 was made for.",
        "From the raw records comes another verdict: its lines are judged otherwise.",
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Name a bundle to check, or runs to seal with --seal; --new-key and --challenge need neither."),
        (["b.zip", "run"], "One bundle is checked at a time; leave out run, or add --seal."),
        (["b.zip", "--ran-by", "Ann"], "--ran-by goes with --seal; leave it out here."),
        (["--seal", "--new-key", "k"], "--seal and --new-key are different things; give one of them."),
        (["--new-key", "k", "b.zip"], "--new-key takes no run and no bundle; leave out b.zip."),
        (["--challenge", "w.parquet"], "State where the challenge goes with -o FOLDER."),
        (["run"], "run is no bundle: it has no manifest.json; name a folder or an archive that vram verify --seal wrote."),
        (["b.zip", "--hash", "no"], "--hash no is no SHA-256; it has 64 of the digits 0 to 9 and a to f."),
        (["b.zip", "--key", "w.parquet"], "w.parquet is not UTF-8 text (byte 6); save it as UTF-8."),
        (["absent.zip"], "absent.zip cannot be read: No such file or directory; check its path."),
        (["--seal", "run", "--sealed-by", "a\nb", "-o", "x.zip"], "--sealed-by is no name of one line with up to 200 letters."),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(home: Path, words: list[str], sentence: str) -> None:
    found = said(["verify", *words], home, vram_here)
    if "w.parquet" in words and "--key" in words:
        assert found.startswith("w.parquet is not UTF-8 text")
    else:
        assert found == sentence


def test_what_does_not_fit_is_said_when_it_is_sealed(tmp_path: Path) -> None:
    contracted(tmp_path, scenario="night")
    words = ["verify", "--seal", "run", "--workload", "w.parquet", "-o", "b.zip"]
    done = vram_here(words, tmp_path)
    assert done.returncode == 1
    why = "Run 001 is of the scenario 'night', which plan.yaml does not have."
    assert done.stdout.splitlines()[1] == f"FAILS       {why}"
    again = vram_here([*words[:-1], "c.zip", "--json"], tmp_path)
    found = json.loads(again.stdout)
    assert found["unfit"] == [{"name": "contract", "message": why}]
    assert vram_here(["verify", "b.zip"], tmp_path).returncode == 1
