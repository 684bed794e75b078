"""`vram workload show`, as people call it."""

import csv
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from commands import said, vram, vram_here
from drawn_profile import whole
from vramledger.report.workload_html.page import to_html
from vramledger.report.workload_show import to_text
from vramledger.workload.profile.json_form import to_json

HEAVY = {
    "numba",
    "numpy",
    "duckdb",
    "pyarrow",
    "ibis",
    "scipy",
    "plotly",
    "jinja2",
    "rich",
    "pydantic",
}
LOG = Path(__file__).parents[2] / "examples" / "gateway-spendlogs.csv.gz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a profile in it."""
    text = json.dumps(to_json(whole()))
    (tmp_path / "profile.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_profile_is_drawn_at_the_asked_width(folder: Path) -> None:
    done = vram(["workload", "show", "profile.json", "--width", "80"], folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == to_text(whole(), 80) + "\n"


@pytest.mark.parametrize(("columns", "width"), [(None, 100), ("132", 132), ("20", 60)])
def test_without_a_terminal_drawings_are_a_hundred_wide_or_as_the_environment_says(
    folder: Path, columns: str | None, width: int
) -> None:
    environment = dict(os.environ) | ({} if columns is None else {"COLUMNS": columns})
    done = vram(["workload", "show", "profile.json"], folder, env=environment)
    assert done.stdout == to_text(whole(), width) + "\n"


def test_the_page_is_written_whole_and_said_on_stderr(folder: Path) -> None:
    done = vram(["workload", "show", "profile.json", "--html", "page.html"], folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "Wrote page.html; it loads nothing from anywhere.\n"
    assert (folder / "page.html").read_text(encoding="utf-8") == to_html(whole())
    assert sorted(path.name for path in folder.iterdir()) == ["page.html", "profile.json"]


def test_a_page_is_not_written_over_without_force(folder: Path) -> None:
    page = folder / "page.html"
    page.write_text("mine", encoding="utf-8")
    assert said(["workload", "show", "profile.json", "--html", "page.html"], folder) == (
        "page.html exists; name another with --html, or replace it with --force."
    )
    assert page.read_text(encoding="utf-8") == "mine"
    done = vram(["workload", "show", "profile.json", "--html", "page.html", "--force"], folder)
    assert done.returncode == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_page_nobody_can_write_is_refused(folder: Path) -> None:
    assert said(["workload", "show", "profile.json", "--html", "none/page.html"], folder) == (
        "none/page.html cannot be written: none is no folder; make it first."
    )


def test_what_is_no_profile_is_refused(folder: Path) -> None:
    (folder / "other.json").write_text('{"schema": "vramledger.ledger/1"}', encoding="utf-8")
    assert said(["workload", "show", "other.json"], folder) == (
        "other.json: its schema is 'vramledger.ledger/1', and a profile's is "
        "'vramledger.profile/1'; make one with `vram workload profile WORKLOAD -o profile.json`."
    )
    assert said(["workload", "show", "absent.json"], folder) == (
        "absent.json cannot be read: No such file or directory; check its path."
    )


@pytest.mark.parametrize(
    "spoilt",
    [
        {"bins": [[9_999, 1]]},
        {"bins": [[-1, 1]]},
        {"bins": [[3, 0]]},
    ],
)
def test_bins_that_do_not_exist_are_refused(folder: Path, spoilt: dict[str, object]) -> None:
    content = to_json(whole())
    content["input_tokens"] |= spoilt
    (folder / "spoilt.json").write_text(json.dumps(content), encoding="utf-8")
    assert said(["workload", "show", "spoilt.json"], folder) == (
        "spoilt.json: input_tokens.bins must be pairs of a known bin and its requests; make the "
        "profile again."
    )


def test_drawing_a_profile_needs_only_the_base(folder: Path) -> None:
    code = (
        "import sys; from vramledger.cli.main import run;"
        "run(['workload', 'show', 'profile.json']);"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("\n[]\n")


def test_the_example_log_is_shown_as_its_rows_are(tmp_path: Path) -> None:
    """Counted anew, in plain Python, from the rows that can be read."""
    with gzip.open(LOG, "rt", encoding="utf-8") as stream:
        sound = {
            row["request_id"]: int(row["prompt_tokens"])
            for row in csv.DictReader(stream)
            if row["prompt_tokens"].isdigit()
            and row["completion_tokens"].isdigit() | (row["completion_tokens"] == "")
            and len(row["startTime"]) > 10 < len(row["endTime"])
        }
    done = vram_here(["workload", "import", str(LOG), "-o", "w.parquet", "--json"], tmp_path)
    loss = json.loads(done.stdout)
    assert loss["rows_kept"] == len(sound)
    assert loss["rows_read"] == loss["rows_kept"] + sum(loss["dropped"].values())
    shown = vram_here(["workload", "show", "w.parquet", "--width", "100"], tmp_path).stdout.split(
        "\n\n"
    )
    assert shown[0].startswith(f"{len(sound):,} requests over 23 h 53 min: ")
    title, *rows = shown[1].splitlines()
    assert title == "Input tokens"
    for row in rows:
        low, high, count = re.findall(r"[\d,]+", re.sub(r"[▏▎▍▌▋▊▉█]+", " ", row))[:3]
        ends = int(low.replace(",", "")), int(high.replace(",", ""))
        inside = sum(ends[0] <= tokens <= ends[1] for tokens in sound.values())
        assert int(count.replace(",", "")) == inside
    mean = statistics.fmean(sound.values())
    listed = next(part for part in shown if part.startswith("Lengths\n"))
    assert f"{len(sound):,}  {sum(sound.values()):,}  {mean:,.1f}" in listed


def test_control_characters_of_names_do_not_reach_the_terminal(folder: Path) -> None:
    content = to_json(whole())
    content["models"] = {"\x1b[2Jmodel": 6, "model-1": 4}
    (folder / "names.json").write_text(json.dumps(content), encoding="utf-8")
    done = vram(["workload", "show", "names.json"], folder)
    assert "\x1b" not in done.stdout
    assert r"\x1b[2Jmodel" in done.stdout
