"""Repetitions, a ramp and a soak are sealed whole, and made again from their runs."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import recorded_trials
from documents.json_keys import covers, documented, printed_paths
from recorded_trials import small_ramp, small_series, small_soak, small_trial
from sealed_queues import TEXT, asked
from sealed_runs import four_requests, wrong
from vramledger.bundle.canonical import canonical_bytes, with_hash
from vramledger.bundle.manifest import file_entries
from vramledger.bundle.sealing import SealAsked, seal
from vramledger.bundle.verifying import verify
from vramledger.cli.main import run
from vramledger.errors import BadInput
from vramledger.methods.repeated.series import SCHEMA, Series, write_series


def told_soak(folder: Path) -> Path:
    """A soak of 14 segments, each a run of its own."""
    small_soak(folder)
    path = folder / "soak.json"
    record = json.loads(path.read_text())
    for number, segment in enumerate(record["segments"], 1):
        segment["folder"] = f"segment-{number:03}"
        if number > 1:
            about = recorded_trials.described(name=f"segment {number}")
            small_trial(folder / segment["folder"], about=about)
    path.write_text(json.dumps(record))
    return folder


SCHEMAS = ("vramledger.sealed/1", "vramledger.verification/1")
RECORDS = {"repeat": small_series, "ramp": small_ramp, "soak": told_soak}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A series of each kind by its name, `w.parquet` that all of them sent, and a bundle of each beside it."""
    folder = tmp_path_factory.mktemp("series")
    path = four_requests(folder / "w.parquet")
    hashed = sha256(path.read_bytes()).hexdigest()
    plain = recorded_trials.described
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            recorded_trials, "described", lambda **values: plain(workload_sha256=hashed, **values)
        )
        for kind, made in RECORDS.items():
            made(folder / kind)
            seal(SealAsked((folder / kind,), folder / f"{kind}-bundle", (path,)))
        yield folder


def copied(home: Path, tmp_path: Path, name: str) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copytree(home / name, tmp_path / name))


def verdict_in(bundle: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((bundle / "verdict.json").read_bytes())
    return found


def series_of(verdict: Mapping[str, Any]) -> dict[str, Any]:
    (told,) = verdict["series"]
    return dict(told)


def again(folder: Path) -> list[tuple[str, str]]:
    """What is wrong after the manifest was made anew."""
    path = folder / "manifest.json"
    document = json.loads(path.read_bytes()) | {"files": file_entries(folder)}
    path.write_bytes(canonical_bytes(with_hash(document)))
    return wrong(verify(folder))


@pytest.mark.parametrize("kind", RECORDS)
def test_a_series_is_sealed_with_all_its_runs(home: Path, kind: str) -> None:
    bundle, source = home / f"{kind}-bundle", home / kind
    place, found = bundle / "series/001", verdict_in(bundle)
    assert (place / f"{kind}.json").read_bytes() == (source / f"{kind}.json").read_bytes()
    names = sorted(each.parent.name for each in place.rglob("run.json"))
    assert names == sorted(each.parent.name for each in source.rglob("run.json"))
    told = series_of(found)
    assert (told["folder"], told["kind"], told["runs"]) == ("series/001", kind, len(names))
    assert found["runs"] == []
    checked = verify(bundle)
    assert wrong(checked) == []
    assert checked.verdict == found


def test_repetitions_are_judged_together(home: Path) -> None:
    found = verdict_in(home / "repeat-bundle")
    told = series_of(found)
    assert [(side["side"], side["runs"]) for side in told["sides"]] == [("a", 2), ("b", 2)]
    assert [line["name"] for line in told["sides"][0]["lines"]] == ["ttft_s p50 <= 0.6", "success >= 90.00%"]  # fmt: skip
    assert found["verdict"] == told["verdict"] == "INCONCLUSIVE"  # of so few requests


def test_a_soak_in_which_nothing_grows(home: Path) -> None:
    found = verdict_in(home / "soak-bundle")
    told = series_of(found)
    assert (told["verdict"], told["reason"], told["restarts"]) == ("PASS", None, 0)
    assert {each["standing"] for each in told["growths"]} == {"holds"}
    assert found["verdict"] == "INCONCLUSIVE"  # no contract was kept by that


def test_a_run_that_was_taken_out_of_a_series_is_missed(home: Path, tmp_path: Path) -> None:
    bundle = copied(home, tmp_path, "repeat-bundle")
    shutil.rmtree(bundle / "series/001/run-002-b")
    said = [said for _, said in again(bundle)]
    assert any("series/001/run-002-b" in each for each in said)


def test_a_run_in_another_runs_place_is_named(home: Path, tmp_path: Path) -> None:
    bundle = copied(home, tmp_path, "repeat-bundle")
    place = bundle / "series/001"
    (place / "run-001-a").rename(place / "x")
    (place / "run-001-b").rename(place / "run-001-a")
    (place / "x").rename(place / "run-001-b")
    assert again(bundle)[0] == (
        "runs",
        "series/001/run-001-a is another run than the manifest lists.",
    )


OTHERWISE = "From the raw records comes another verdict: its series come to something else."


def changed(bundle: Path, file: str, change: Callable[[dict[str, Any]], None]) -> None:
    path = bundle / "series/001" / file
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("kind", "change", "why"),
    [
        (
            "ramp",
            lambda record: record["steps"][0].update(level=64),
            "ramp.json says that step-c1 had the load 64, and it sent 1.",
        ),
        (
            "ramp",  # a step that preempted
            lambda record: record["result"]["safe_load"].update(held={"concurrency": 1}),
            "series/001/ramp.json says that safe_load is 1.0, and its steps come to None.",
        ),
        (
            "soak",
            lambda record: record["segments"][3].update(ttft_p50_s=0.01),
            "series/001/soak.json says another ttft_p50_s of segment-004 than the run comes to.",
        ),
        (
            "soak",
            lambda record: record["segments"][3].update(folder="segment-001"),
            "series/001/soak.json names a segment twice.",
        ),
        (
            "soak",
            lambda record: record["segments"][3].update(folder="../../runs/001"),
            "series/001/soak.json names ../../runs/001, which is no run of the soak.",
        ),
        ("soak", lambda record: record.pop("segments"), "soak.json does not fit its runs"),
        (
            "repeat",
            lambda record: record["asked"].update(times=9),
            "14 of 18 runs were not made",
        ),
    ],
)
def test_a_record_that_its_runs_do_not_come_to(
    home: Path, tmp_path: Path, kind: str, change: Callable[[dict[str, Any]], None], why: str
) -> None:
    bundle = copied(home, tmp_path, f"{kind}-bundle")
    changed(bundle, f"{kind}.json", change)
    assert ("verdict", OTHERWISE) in again(bundle)
    anew = verify(bundle).verdict
    assert anew is not None
    assert why in series_of(anew)["reason"]


@pytest.mark.parametrize("kind", RECORDS)
def test_every_key_is_in_the_reference(home: Path, kind: str) -> None:
    page = Path(__file__).parents[2] / "docs/reference/json.md"
    for keys in map(documented(page.read_text()).__getitem__, SCHEMAS):
        for path in printed_paths({"verdict": verdict_in(home / f"{kind}-bundle")}):
            assert covers(keys, path), path


def test_a_run_is_sealed_once(home: Path, tmp_path: Path) -> None:
    soak = copied(home, tmp_path, "soak")
    shutil.copytree(soak / "segment-001", soak / "segment-099")
    with pytest.raises(BadInput, match=r"segment-099 is the same run as .*segment-001; name each once\."):  # fmt: skip
        seal(SealAsked((soak,), tmp_path / "c", (home / "w.parquet",)))
    ramp = home / "ramp/step-c1"
    with pytest.raises(BadInput, match=r"is the same run as"):
        seal(SealAsked((home / "ramp", ramp), tmp_path / "d", (home / "w.parquet",)))


def test_a_series_without_a_run_is_refused(tmp_path: Path) -> None:
    write_series(tmp_path / "none", {"schema": SCHEMA, "asked": Series(2, 0, None, {}).to_json()})
    with pytest.raises(BadInput, match="is a series without a run; make one, or leave it out"):
        seal(SealAsked((tmp_path / "none",), tmp_path / "b"))


TWO = TEXT + "  nightly: {kind: latency, contract: {success: 0.98}}\n"


def test_one_run_a_scenario_decides_the_plan(tmp_path: Path) -> None:
    one = asked(tmp_path, TWO)
    only = seal(one)
    assert only.verdict["verdict"] == "INCONCLUSIVE"  # nothing of the night is known
    about = {"scenario": "nightly", "contract": "nightly"}
    other = asked(tmp_path / "night", TWO, **about)
    both = seal(replace(one, runs=(*one.runs, *other.runs), out=tmp_path / "both"))
    assert both.verdict["verdict"] == "PASS"
    assert [each["run"] for each in both.verdict["accepted"]["scenarios"]] == ["001", "002"]
    assert wrong(verify(both.path)) == []


def test_a_scenario_that_was_repeated_needs_no_run_beside_it(tmp_path: Path) -> None:
    series = tmp_path / "repeated"
    one = asked(tmp_path, TWO)
    asked_for = Series(3, 0, None, {})
    for turn in asked_for.turns:
        asked(tmp_path / turn.name, TWO, scenario="nightly", contract="nightly", seed=turn.number)
        shutil.move(tmp_path / turn.name / "run", series / turn.name)
    write_series(series, {"schema": SCHEMA, "asked": asked_for.to_json()})
    found = seal(replace(one, runs=(*one.runs, series), out=tmp_path / "b.zip"))
    assert found.verdict["verdict"] == "PASS"
    assert [each["name"] for each in found.verdict["accepted"]["scenarios"]] == ["daily"]
    assert series_of(found.verdict)["scenarios"] == ["nightly"]
    assert wrong(verify(found.path)) == []
    alone = seal(replace(one, runs=(series,), out=tmp_path / "alone"))
    assert alone.verdict["verdict"] == "INCONCLUSIVE"  # nothing of the day is known


@pytest.mark.parametrize(
    ("kind", "told"), [("repeat", "repetition"), ("ramp", "ramp"), ("soak", "soak")]
)
def test_the_report_of_a_bundle_shows_its_series_as_one(
    home: Path, kind: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(home / f"{kind}-bundle"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in found["series"]] == [told]
    assert found["runs"] == []
    assert found["bundle"]["unchanged"] is True
