"""`vram workload synth`, as people call it."""

import json
from pathlib import Path

import pytest

from commands import said, vram, vram_here
from stored_workloads import chats, stored
from synthesised import plain, profile_of
from vramledger.workload.profile.json_form import text
from vramledger.workload.store import read_metadata

SYNTH = ["workload", "synth", "--like", "w.json", "-o", "s.parquet"]
CHATS = ["workload", "synth", "--like", "chats.json", "-o", "s.parquet"]


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The JSON of two profiles by their files' names."""
    folder = tmp_path_factory.mktemp("profiles")
    return {
        "w.json": text(profile_of(plain(800, 1), folder)),
        "chats.json": text(profile_of(chats(100), folder)),
    }


@pytest.fixture
def folder(tmp_path: Path, profiles: dict[str, str]) -> Path:
    """A folder with these."""
    for name, content in profiles.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_a_synthetic_workload_is_written_with_its_closeness(folder: Path) -> None:
    stored(folder / "w.parquet", plain(800, 1))
    done = vram([*SYNTH, "--like", "w.parquet", "--requests", "800"], folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "800 synthetic requests in s.parquet."
    assert lines[1] == (
        "Drawn at random like a profile (seed 0); arrivals along the source's own rate curve."
    )
    assert lines[-1] == "Within sampling error: no distance is beyond its limit."
    metadata = read_metadata(folder / "s.parquet").metadata
    assert metadata.synthetic
    assert metadata.history[-1] == lines[1]


def test_json_has_a_line_for_every_distance(folder: Path) -> None:
    done = vram_here([*SYNTH, "--requests", "900", "--seed", "5", "--json"], folder)
    found = json.loads(done.stdout)
    assert found["schema"] == "vramledger.synth/1"
    assert found["requests"] == 900
    assert found["closeness"]["source_requests"] == 800
    parts = {line["part"] for line in found["closeness"]["lines"]}
    assert {"input tokens", "output tokens", "total tokens", "input x output"} < parts
    assert {"requests by minute", "dispersion over 1 s", "empty 1 s"} < parts
    for line in found["closeness"]["lines"]:
        assert line["verdict"] in ("within", "beyond", "as asked", "not judged")


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(folder: Path) -> None:
    written = []
    for seed in ("3", "3", "4"):
        vram_here([*CHATS, "--requests", "500", "--seed", seed, "--no-compare", "--force"], folder)
        written.append((folder / "s.parquet").read_bytes())
    assert written[0] == written[1]
    assert written[0] != written[2]


def test_other_arrivals_are_as_asked_and_do_not_count_against_it(folder: Path) -> None:
    asked = ["--hours", "0.1", "--arrivals", "gamma", "--cv", "3", "--rate", "2"]
    done = vram_here([*SYNTH, *asked], folder)
    assert done.returncode == 0
    assert "arrivals with gamma gaps of cv 3, 2 requests/s at the mean." in done.stdout
    assert (
        "empty 60 s: as asked, --arrivals gamma and --rate asked for something else.\n"
        in done.stdout
    )


def test_what_is_left_out_is_said(folder: Path) -> None:
    done = vram_here([*CHATS, "--requests", "400", "--no-prefix", "--no-compare"], folder)
    assert done.stdout.splitlines()[2] == "Left out: who sent them; prefix blocks."
    assert "prefix_blocks" not in done.stdout
    assert read_metadata(folder / "s.parquet").metadata.block_tokens is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "Say either --requests N or --hours H: one of them ends the workload."),
        (
            ["--hours", "1", "--arrivals", "gama"],
            "Unknown arrival process 'gama' in --arrivals; the nearest known one is gamma.",
        ),
        (
            ["--hours", "1", "-o", "w.json", "--force"],
            "w.json is what the workload is to be like; choose another -o.",
        ),
        (
            ["--hours", "1", "-o", "no/s.parquet"],
            "no/s.parquet cannot be written: No such file or directory; choose another -o.",
        ),
    ],
)
def test_bad_options_are_refused_in_one_sentence(
    folder: Path, options: list[str], sentence: str
) -> None:
    assert said([*SYNTH, *options], folder, vram_here) == sentence


def test_a_refusal_leaves_no_file_behind(folder: Path) -> None:
    rows = [row | {"arrival_s": None} for row in plain(50, 1)]
    stored(folder / "w.parquet", rows)
    done = vram_here([*SYNTH, "--like", "w.parquet", "--requests", "9"], folder)
    assert done.returncode == 3
    assert "it has no rate curve to follow" in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == [
        "chats.json", "w.json", "w.parquet",
    ]  # fmt: skip
