"""The operators' commands: what they print, what they refuse, what they write."""

import json
from pathlib import Path
from typing import Any

import pytest

from stored_workloads import chats, column, request, rows, stored
from vramledger.cli.main import run
from vramledger.cli.workload.operator import seconds
from vramledger.errors import BadInput, ExitCode


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stored(tmp_path / "w.parquet", chats(60, span_s=7200), week_offset_s=32_400)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["workload", *arguments.split()]) == ExitCode.HOLDS
    return capsys.readouterr().out


def refused(arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["workload", *arguments.split()]) == ExitCode.BAD_INPUT
    return capsys.readouterr().err


def answered(arguments: str, capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(said(f"{arguments} --json", capsys))


def test_a_slice_says_what_it_is_before_and_after(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said("slice w.parquet --scenario daily -o d.parquet", capsys).splitlines()
    assert lines[0].split() == ["requests", "span", "input", "tokens", "output", "tokens"]
    assert lines[2].split()[:2] == ["before", "240"]
    assert lines[3].split()[:2] == ["after", f"{len(rows(folder / 'd.parquet'))}"]
    assert lines[5] == (
        "slice wrote d.parquet. daily: the median busy hour by tokens; from 3,600 s to 7,200 s. "
        "Sessions cut: 1; the turns that stay keep their numbers."
    )


def test_json_has_the_figures_of_both_sides(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answered("head w.parquet 10 -o h.parquet", capsys)
    first = rows(folder / "w.parquet")[:10]
    assert found["schema"] == "vramledger.workload-operator/1"
    assert found["operator"] == "head"
    assert [each["requests"] for each in found["before"]] == [240]
    assert found["after"] == {
        "requests": 10,
        "span_s": first[-1]["arrival_s"],
        "input_tokens": sum(row["input_tokens"] for row in first),
        "output_tokens": sum(row["output_tokens"] for row in first),
    }
    assert found["history"] == ["head: the first 10 requests"]


def test_day_and_night_are_scenarios(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said("slice w.parquet --day -o a.parquet", capsys)
    said("slice w.parquet --scenario day -o b.parquet", capsys)
    assert (folder / "a.parquet").read_bytes() == (folder / "b.parquet").read_bytes()
    assert run(["workload", "slice", "w.parquet", "--night", "-o", "n.parquet"]) == (
        ExitCode.CANNOT_KNOW
    )
    assert capsys.readouterr().err == (
        "vram: w.parquet has no scenario night. No request of the log arrives from 20:00 to 08:00.\n"
    )
    assert refused("slice w.parquet --day --night -o n.parquet", capsys) == (
        "vram: day and night are two scenarios; slice one at a time.\n"
    )


def test_scale_takes_one_factor_for_both_lengths(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said("scale w.parquet --lengths 2 -o a.parquet", capsys)
    said("scale w.parquet --input 2 --output 2 -o b.parquet", capsys)
    assert (folder / "a.parquet").read_bytes() == (folder / "b.parquet").read_bytes()
    assert column(folder / "a.parquet", "output_tokens") == [
        2 * tokens for tokens in column(folder / "w.parquet", "output_tokens")
    ]
    assert refused("scale w.parquet --lengths 2 --input 2 -o c.parquet", capsys) == (
        "vram: --lengths is both --input and --output; give it alone, or those two.\n"
    )


def test_a_factor_of_nothing_is_refused_by_its_own_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused("scale w.parquet --input 0 -o c.parquet", capsys) == (
        "vram: --input 0 is no factor; take one above 0, up to 1000.\n"
    )
    assert not (folder / "c.parquet").exists()


def test_merge_and_mix_take_several_workloads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    merged = said("merge w.parquet w.parquet -o m.parquet", capsys).splitlines()
    assert [line.split()[:3] for line in merged[2:4]] == [
        ["workload", "1", "240"],
        ["workload", "2", "240"],
    ]
    assert len(rows(folder / "m.parquet")) == 480
    mixed = answered("mix w.parquet m.parquet --share 0.25 --seed 7 -o x.parquet", capsys)
    assert mixed["history"][-1] == "mix: share 0.25, seed 7"
    assert mixed["after"]["requests"] == len(rows(folder / "x.parquet"))


def test_a_workload_is_replaced_by_what_is_made_of_it_only_where_that_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "w.parquet").read_bytes()
    for verb in ("head w.parquet 10", "scale w.parquet --rate 2", "profile w.parquet"):
        assert refused(f"{verb} -o w.parquet", capsys) == (
            "vram: w.parquet exists; name another with -o, or replace it with --force.\n"
        )
    assert (folder / "w.parquet").read_bytes() == before
    found = answered("head w.parquet 10 -o w.parquet --force", capsys)
    assert found["before"][0]["requests"] == 240
    assert len(rows(folder / "w.parquet")) == 10
    assert [path.name for path in folder.iterdir()] == ["w.parquet"]


def test_what_is_no_workload_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "text.parquet").write_text("arrival,input\n")
    for verb in ("head {} 3", "slice {} --day", "scale {}", "mix {} {} --share 0.5", "merge {} {}"):
        for name, why in (("no.parquet", "cannot be read"), ("text.parquet", "is not a Parquet")):
            said_of = refused(f"{verb.replace('{}', name)} -o o.parquet", capsys)
            assert said_of.startswith(f"vram: {name} {why}")
    stored(folder / "empty.parquet", [])
    for verb in ("head {} 3", "scale {}", "slice {} --from 0", "merge {} {}"):
        run(["workload", *f"{verb.replace('{}', 'empty.parquet')} -o o.parquet".split()])
        assert capsys.readouterr().err.startswith("vram: ")
    assert not (folder / "o.parquet").exists()


def test_names_that_were_kept_are_not_written_into_history(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(folder / "k.parquet", [request(0, arrival_s=0.0, model="acme-secret-7b")])
    found = answered("slice k.parquet --model acme-secret-7b -o s.parquet", capsys)
    assert found["history"] == ["slice: one model"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("600", 600), ("1.5", 1.5), ("90s", 90), ("10m", 600), ("1h30m", 5400), ("2d", 172_800)],
)
def test_times_are_seconds_or_have_units(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "-5", "ten", "5 m", "1h30", "5w"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r" is no time; write seconds, or 90s, 10m, 1h30m, 2d\.$"):
        seconds(text)
