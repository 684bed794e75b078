"""The report of a bundle says what its seal says, and opens nothing outside it."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from commands import said, vram_here
from sealed_queues import RECORDED, TEXT, asked
from vramledger.bundle.sealing import seal
from vramledger.methods.repeated.series import SCHEMA, Series, write_series

TWO = TEXT + "  nightly: {kind: latency, contract: {success: 0.98}}\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle `whole.zip`, one with a changed byte, one that is cut off."""
    folder = tmp_path_factory.mktemp("reported")
    whole = seal(replace(asked(folder), out=folder / "whole.zip")).path.read_bytes()
    changed = bytearray(whole)
    changed[whole.index(b"name: small")] ^= 1
    (folder / "changed.zip").write_bytes(changed)
    (folder / "cut.zip").write_bytes(whole[: len(whole) // 2])
    return folder


def rounded(value: object) -> object:
    """Figures to four digits: a report rounds."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def test_a_whole_bundle_has_the_verdict_of_its_seal(home: Path) -> None:
    done = vram_here(["report", "whole.zip", "-o", "whole.html", "--json"], home)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    verified = json.loads(vram_here(["verify", "whole.zip", "--json"], home).stdout)
    sealed = verified["verdict"]["accepted"]
    assert told["bundle"]["unchanged"] is True
    (run,) = told["runs"]
    assert run["verdict"] == sealed["verdict"] == "PASS"
    ours = {line["name"]: (line["verdict"], line["value"], line["low"]) for line in sealed["lines"]}
    shown = {line["name"]: (line["verdict"], line["value"], line["low"]) for line in run["lines"]}
    assert shown.keys() == ours.keys()
    for name, (verdict, value, low) in ours.items():
        assert [*map(rounded, shown[name])] == [*map(rounded, (verdict, value, low))]
    assert (home / "whole.html").stat().st_size


def test_a_changed_one_has_none_and_says_what_changed(home: Path) -> None:
    done = vram_here(["report", "changed.zip", "-o", "changed.html", "--json"], home)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["bundle"]["unchanged"] is False
    page = (home / "changed.html").read_text()
    assert "plan.yaml was changed: the first other byte is one of 0 to " in page
    assert "plan.yaml is not the plan that run 001 was made for." in page


def test_one_that_is_cut_off_is_refused(home: Path) -> None:
    assert said(["report", "cut.zip", "-o", "cut.html"], home, vram_here) == (
        "cut.zip is no ZIP archive, or one that was cut off or changed; use an unchanged copy of the bundle."
    )
    assert not (home / "cut.html").exists()


def test_no_file_that_a_plan_in_a_bundle_names_is_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.parquet"
    os.mkfifo(pipe)  # whoever opens it waits for ever
    sealed = seal(asked(tmp_path / "a", RECORDED.replace("FILE", str(pipe))))
    done = vram_here(["report", str(sealed.path), "-o", "r.html", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        f"By the plan in the bundle nothing can be judged (plan.yaml names {pipe}, which this bundle does not hold), so these "
        "are figures of each run without intervals."
    ) in json.loads(done.stdout)["open_points"]


def test_a_series_in_a_bundle_is_reported_as_one(tmp_path: Path) -> None:
    series = tmp_path / "repeated"
    one = asked(tmp_path, TWO)
    asked_for = Series(2, 0, None, {})
    for turn in asked_for.turns:
        asked(tmp_path / turn.name, TWO, scenario="nightly", contract="nightly", seed=turn.number)
        shutil.move(tmp_path / turn.name / "run", series / turn.name)
    write_series(series, {"schema": SCHEMA, "asked": asked_for.to_json()})
    seal(replace(one, runs=(*one.runs, series), out=tmp_path / "b.zip"))
    done = vram_here(["report", "b.zip", "-o", "b.html", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [run["name"] for run in told["runs"]] == ["001"]
    assert len(told["series"]) == 1
