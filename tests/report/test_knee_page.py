"""The page of a search: its headline is the finding, its panels show limits and the loads that were found."""

import contextlib
import io
import json
from typing import Any

import pytest

from read_page import Read, drawn, loads_of, read
from stored_workloads import chats, stored
from vramledger.cli.main import run

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
LINES = ("ttft_s p95 <= 1", "tpot_s p95 <= 0.03", "success >= 90.00%")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """The page, and the same search as JSON."""
    place = tmp_path_factory.mktemp("knee")
    stored(place / "w.parquet", chats(8, span_s=60))
    asked = ["--gpu", "H100-80GB-SXM", "--workload", str(place / "w.parquet")]
    asked += [word for line in LINES for word in ("--limit", line)]
    asked += ["--knee", "--tolerance", "1", "--html", str(place / "p.html"), "--json"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run(["simulate", LAUNCH, *asked])
    return (place / "p.html").read_text(encoding="utf-8"), json.loads(out.getvalue())


@pytest.fixture(scope="module")
def page(pages: tuple[str, Any]) -> str:
    return pages[0]


@pytest.fixture(scope="module")
def seen(page: str) -> Read:
    return read(page)


def axes(figure: Any) -> list[Any]:
    """The axes of values."""
    return [axis for name, axis in figure["layout"].items() if name.startswith("yaxis")]


def test_the_headline_is_the_finding(pages: tuple[str, Any], seen: Read) -> None:
    said = " ".join(seen.texts["p"])
    assert pages[1]["says"] in said
    assert pages[1]["says"].startswith("The contract holds up to ")
    assert "The safe load to decide by, headroom kept at that end: " in pages[1]["says"]
    (title,) = seen.texts["title"]
    assert title == (
        "meta-llama/Llama-3.1-8B on 1 x H100-80GB-SXM: how much load it takes (simulated, not measured)"
    )
    assert seen.open_at_end == []
    assert loads_of(pages[0]) == []


def test_a_table_has_both_goals_at_both_ends_of_the_step_times(seen: Read) -> None:
    rows = seen.tables["Where the goals end, with the workload's prefix hits (simulated)"]
    assert rows[0] == ["goal", "step times", "holds up to", "fails from", "what breaks there"]
    assert [row[0] for row in rows[1:]] == ["contract", "safe load"] * 2
    assert [row[1].split(" (")[0] for row in rows[1:]] == ["expected"] * 2 + ["slow end"] * 2


def test_every_line_with_a_number_has_a_panel_with_its_limit(page: str) -> None:
    figure = drawn(page)["knee-own"]
    names = [each["name"] for each in figure["data"]]
    for line in LINES:
        (limit,) = [each for each in figure["data"] if each["name"] == line]
        own = line.split(" <= ")[0].split(" >= ")[0]
        (curve,) = [each for each in figure["data"] if each["name"] == own]
        assert curve["yaxis"] == limit["yaxis"]
        assert f"{own}, slow end" in names
    titles = [axis["title"]["text"] for axis in axes(figure) if "title" in axis]
    assert titles == ["ttft (s)", "tpot (s)", "success", "seconds", "answered/s", "KV use p99"]


def test_the_loads_that_were_found_stand_in_every_panel(pages: tuple[str, Any]) -> None:
    figure, found = drawn(pages[0])["knee-own"], pages[1]
    panels = sum("domain" in axis for axis in axes(figure))
    at = {
        "contract holds up to": found["contract_limit"]["held"],
        "safe load to decide by, slow end": found["decision_load"],
        "knee of the curve": found["knee"],
    }
    for name, end in at.items():
        lines = [each for each in figure["data"] if each["name"] == name]
        assert len(lines) == panels
        assert len({each["yaxis"] for each in lines}) == panels
        assert [each["showlegend"] for each in lines] == [True] + [False] * (panels - 1)
        for each in lines:
            assert each["x"] == pytest.approx([end["requests_per_s"]] * 2, rel=1e-4)
            below = figure["layout"][f"yaxis{each['yaxis'].removeprefix('y')}"]["overlaying"]
            assert "domain" in figure["layout"][f"yaxis{below.removeprefix('y')}"]


def test_the_run_at_the_load_that_was_found_is_below(page: str, seen: Read) -> None:
    assert any(text.startswith("The run at ") for text in seen.texts["h2"])
    assert {"time-own", "time-no-hits", "knee-own", "knee-no-hits"} <= drawn(page).keys()
    assert any(text.startswith("Notes on the run at ") for text in seen.texts["h2"])
