import json
from pathlib import Path

import pytest

from commands import said, vram
from invented_workload import rows_of, stored


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli")
    stored(rows_of([(100, 1)] * 99 + [(100, 200)], 0.5), path / "w.parquet")
    return path


def test_the_text_begins_with_the_requests_and_who_holds_the_cache(folder: Path) -> None:
    done = vram(["workload", "profile", "w.parquet"], folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == [
        "100 requests over 49.5 s: 2/s at the mean, 2 in the busiest second.",
        (
            "The longest 1 % of requests hold 80.0% of the KV cache (decoding steps taken as equally "
            "long: assumed)."
        ),
    ]


def test_the_json_is_one_object_with_its_schema(folder: Path) -> None:
    done = vram(["workload", "profile", "w.parquet", "--json"], folder)
    found = json.loads(done.stdout)
    assert found["schema"] == "vramledger.profile/1"
    assert found["requests"] == 100
    assert found["input_tokens"]["total"] == 10_000


def test_a_written_profile_says_the_same(folder: Path) -> None:
    done = vram(["workload", "profile", "w.parquet", "-o", "profile.json"], folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "Wrote profile.json.\n")
    again = vram(["workload", "profile", "profile.json"], folder)
    assert again.stdout == vram(["workload", "profile", "w.parquet"], folder).stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name one workload: a file, or --table URL."),
        (["w.parquet", "--table", "x"], "Name one workload: a file, or --table URL."),
        (
            ["w.parquet", "--map", "input=a"],
            "--map, --block-tokens and --keep describe a --table; leave them out.",
        ),
        (
            ["absent.parquet"],
            "absent.parquet cannot be read: No such file or directory; check its path.",
        ),
        (
            ["w.parquet", "--engine", "sparc"],
            "Unknown engine 'sparc'; the nearest known one is spark.",
        ),
        (
            ["w.parquet", "-o", "w.parquet", "--force"],
            "w.parquet is what is read, and would be lost; choose another -o.",
        ),
        (
            ["--table", "requests"],
            "--table takes a URL such as postgres://USER@HOST/DATABASE?table=NAME.",
        ),
        (
            ["--table", "postgres://me@db/logs"],
            "--table names no table; add ?table=NAME to postgres://.../logs.",
        ),
        (
            ["--table", "postgres://me:hunter2@db/logs?table=t"],
            (
                "--table holds a password, which everyone on this machine can read; take it out and "
                "put it into the environment (PGPASSWORD) or ~/.pgpass."
            ),
        ),
        (
            ["w.parquet", "-o", "no/where.json"],
            "no/where.json cannot be written: No such file or directory; choose another -o.",
        ),
    ],
)
def test_what_cannot_be_used_is_told_in_a_sentence(
    folder: Path, arguments: list[str], sentence: str
) -> None:
    assert said(["workload", "profile", *arguments], folder) == sentence
