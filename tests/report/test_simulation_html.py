"""The page of a simulation: it says that it is one, loads nothing, and holds the run's numbers."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from read_page import HOSTILE, Read, drawn, loads_of, read
from stored_workloads import chats, request, stored
from vramledger.cli.main import run
from vramledger.engine.read import read_launch
from vramledger.hardware.catalogue import find
from vramledger.ledger.case import Case
from vramledger.model.load import load_model
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.overview.columns import columns_of
from vramledger.record.overview.overview import Overview, overview_of
from vramledger.record.run import read_run
from vramledger.report.simulation import percentile_rows
from vramledger.report.simulation_html.headline import headline
from vramledger.report.simulation_html.page import FIGURES, shown_of, to_html
from vramledger.simulate.ends import with_ends
from vramledger.simulate.judged import Line
from vramledger.simulate.run import Question, Simulation, simulate_case
from vramledger.simulate.run_columns import run_columns
from vramledger.workload.operators.prepared import Part

MODEL = "meta-llama/Llama-3.1-8B"
LAUNCH = f"vllm serve {MODEL} --max-model-len 8192"
CONTRACT = Contract(
    {"ttft_s": (LatencyLimit(None, {0.95: 1e-4}), LatencyLimit(500, {0.5: 60.0}))}, success=0.99
)


def simulated(workload: Path, **asked: Any) -> Simulation:
    case = Case(read_launch(LAUNCH), load_model(MODEL), find("H100-80GB-SXM", "test"), "0.32.0")
    found = simulate_case(Question(case, Part(workload), **asked), lambda _done, _all: None)
    assert isinstance(found, Simulation)
    return found


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    path = stored(tmp_path_factory.mktemp("w") / "w.parquet", chats(20, span_s=60))
    return simulated(path, contract=CONTRACT, replicas=2)


@pytest.fixture(scope="module")
def page(simulation: Simulation) -> str:
    return to_html(simulation, Path("runs/x"))


@pytest.fixture(scope="module")
def seen(page: str) -> Read:
    return read(page)


def test_nothing_is_loaded_and_every_element_is_closed(page: str, seen: Read) -> None:
    assert loads_of(page) == []
    assert seen.open_at_end == []
    assert "url(" not in "".join(seen.texts["style"])


def test_title_headings_and_captions_say_that_it_is_simulated(
    simulation: Simulation, seen: Read
) -> None:
    title = "2 x meta-llama/Llama-3.1-8B on 1 x H100-80GB-SXM, vLLM 0.32.0: w.parquet"
    assert seen.texts["title"] == [f"{title} (simulated, not measured)"]
    assert seen.texts["h1"] == [f"Simulation: {title}"]
    (said,) = seen.texts["strong"]
    basis = simulation.basis
    assert said == (
        "SIMULATED, not measured: every figure of this page comes from a simulation. Times are "
        f"{basis}."
    )
    plain = {"Notes", "Beside it"}
    assert all(title.endswith("(simulated)") for title in seen.texts["h2"] if title not in plain)
    assert all(title.endswith("(simulated)") for title in seen.tables)


def test_the_headline_names_what_fails(simulation: Simulation, seen: Read) -> None:
    said = headline(simulation.main.answers)
    assert said.endswith("; the contract fails at ttft_s p95 <= 0.0001.")
    assert said in seen.texts["p"]


def test_the_contract_stands_with_its_verdicts_on_both_sides(seen: Read) -> None:
    tables = seen.tables
    for side in ("with the workload's prefix hits", "without prefix hits"):
        rows = tables[f"Contract, {side} (simulated)"]
        assert rows[0] == ["verdict", "asked", "simulated"]
        assert [row[:2] for row in rows[1:]] == [
            ["FAIL", "ttft_s p95 <= 0.0001 s"],
            ["PASS", "ttft_s p50 <= 60 s up to 500 input tokens"],
            ["PASS", "success >= 99.00%"],
        ]


def test_the_ends_of_the_step_times_stand_beside_the_main_run_alone(
    simulation: Simulation,
) -> None:
    ended = with_ends(simulation, lambda _done, _all: None)
    tables = read(to_html(ended, Path("r"))).tables
    head, fails, holds, success = tables["Contract, with the workload's prefix hits (simulated)"]
    assert head == ["verdict", "asked", "simulated", "at the slow end", "at the fast end"]
    assert fails[0] == "FAIL"
    expected, slow, fast = (float(cell.removesuffix(" s")) for cell in holds[2:])
    assert fast < expected < slow
    assert success == ["PASS", "success >= 99.00%", "100.00%", "100.00%", "100.00%"]
    assert len(tables["Contract, without prefix hits (simulated)"][0]) == 3
    percentiles = tables["Percentiles, with the workload's prefix hits (simulated)"]
    assert percentiles[0][-2:] == ["p95 slow end", "p99 slow end"]
    assert len(tables["Percentiles, without prefix hits (simulated)"][0]) == 5


def test_the_percentiles_are_those_of_the_terminal(simulation: Simulation, seen: Read) -> None:
    rows = seen.tables["Percentiles, with the workload's prefix hits (simulated)"][1:]
    assert rows == [list(row) for row in percentile_rows(simulation.main.answers)]


def test_every_figure_is_drawn_with_its_numbers_as_a_table(
    simulation: Simulation, page: str, seen: Read
) -> None:
    figures = [figure for make in FIGURES for figure in make(shown_of(simulation))]
    assert set(drawn(page)) == {each.id for each in figures}
    assert {"time-own", "time-no-hits", "binding", "ttft-distribution", "kv-held"} <= set(
        drawn(page)
    )
    for each in figures:
        assert seen.tables[f"{each.table.title} (simulated)"] == [
            list(each.table.head),
            *map(list, each.table.rows),
        ]


def test_plotly_knows_every_property_of_the_figures(simulation: Simulation) -> None:
    import plotly.graph_objects as go

    for make in FIGURES:
        for each in make(shown_of(simulation)):
            go.Figure(data=list(each.data), layout=each.layout)


def test_all_rows_over_time_share_one_axis(page: str) -> None:
    figure = drawn(page)["time-own"]
    assert {trace["xaxis"] for trace in figure["data"]} == {"x"}
    assert [name for name in figure["layout"] if name.startswith("xaxis")] == ["xaxis"]
    rows = {trace["yaxis"] for trace in figure["data"]}
    assert len(rows) == 8
    titles = {
        axis["title"]["text"] for name, axis in figure["layout"].items() if name.startswith("yaxis")
    }
    assert {"requests/s", "running", "waiting", "KV use", "preempted", "TTFT (s)"} <= titles
    domains = sorted(
        axis["domain"] for name, axis in figure["layout"].items() if name.startswith("yaxis")
    )
    assert all(low[1] <= high[0] for low, high in pairwise(domains))
    assert domains[0][0] >= 0


def test_the_safe_load_leaves_the_headroom_that_was_asked_for(simulation: Simulation) -> None:
    question = replace(simulation.question, headroom=0.4)
    capacity = replace(simulation.sanity.capacity, headroom=0.4)
    changed = replace(
        simulation, question=question, sanity=replace(simulation.sanity, capacity=capacity)
    )
    page = to_html(changed, Path("r"))
    (line,) = [each for each in drawn(page)["time-own"]["data"] if "headroom" in each["name"]]
    assert line["name"] == "safe load: 40.0% headroom"
    assert line["y"] == [0.6, 0.6]
    assert "Headroom: 40.0% of the pool, as asked." in page


def test_the_limits_of_the_contract_stand_in_the_distribution(page: str) -> None:
    traces = drawn(page)["ttft-distribution"]["data"]
    assert [(each["name"], each["x"], each["y"]) for each in traces[2:]] == [
        ("p95 <= 0.0001 s", [0.0001], [0.95]),
        ("p50 <= 60 s, up to 500 input tokens", [60], [0.5]),
    ]
    assert [each["name"] for each in traces[:2]] == [
        "with the workload's prefix hits", "without prefix hits",
    ]  # fmt: skip
    assert traces[0]["y"][-1] == 1


def test_the_bars_of_what_binds_add_up_to_all_of_the_time(page: str) -> None:
    parts = drawn(page)["binding"]["data"]
    for side in (0, 1):
        assert sum(part["x"][side] for part in parts) == pytest.approx(1)


def test_names_out_of_files_are_text_and_never_markup(simulation: Simulation) -> None:
    hostile = replace(simulation, notes=(HOSTILE,))
    part = replace(simulation.question.part, workload=Path(HOSTILE.replace("/", "")))
    question = replace(simulation.question, scenario=HOSTILE, part=part)
    page = to_html(replace(hostile, question=question), Path(HOSTILE))
    assert page.count("<script") == to_html(simulation, Path("r")).count("<script")
    seen = read(page)
    assert HOSTILE in seen.texts["li"]
    assert "onerror" not in {name for _, name, _ in seen.attributes}


def test_without_prefixes_there_is_one_side(tmp_path: Path) -> None:
    rows = [
        request(i, arrival_s=float(i), input_tokens=100 + i, output_tokens=1 + i % 3)
        for i in range(40)
    ]
    page = to_html(simulated(stored(tmp_path / "w.parquet", rows)), Path("r"))
    assert "time-no-hits" in drawn(page)
    assert "time-own" not in drawn(page)
    assert "Contract, without prefix hits (simulated)" not in read(page).tables
    assert "no contract was stated." in page


def test_nothing_but_rejected_requests_still_has_a_page(tmp_path: Path) -> None:
    rows = [request(0, arrival_s=0.0, input_tokens=9000, output_tokens=1)]
    page = to_html(simulated(stored(tmp_path / "w.parquet", rows)), Path("r"))
    assert read(page).open_at_end == []
    assert "e2e-distribution" in drawn(page)


def test_the_overview_of_the_directory_is_that_of_the_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path / "w.parquet", chats(20, span_s=60))
    monkeypatch.chdir(tmp_path)
    asked = ["--gpu", "H100-80GB-SXM", "--engine-version", "0.32.0", "--workload", "w.parquet"]
    assert run(["simulate", LAUNCH, *asked, "-o", "r"]) == 0
    stored_one = overview_of(columns_of(read_run(Path("r"))))
    live_run = simulated(tmp_path / "w.parquet")
    live = overview_of(run_columns(live_run, live_run.main))
    assert stored_one.held is None
    for of in SAMPLED:
        np.testing.assert_allclose(of(stored_one), of(live), rtol=1e-9)


SAMPLED: tuple[Callable[[Overview], Any], ...] = (
    lambda o: o.over_time.kv_usage.mean,
    lambda o: o.over_time.waiting.high,
    lambda o: o.over_time.latency["e2e_s"].values["p95"],
    lambda o: o.distributions["ttft_s"].values,
    lambda o: o.by_length["e2e_s"].values["worst"],
)


def test_the_verb_writes_the_page_whole_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path / "w.parquet", chats(5, span_s=60))
    monkeypatch.chdir(tmp_path)
    asked = ["simulate", LAUNCH, "--gpu", "H100-80GB-SXM", "--workload", "w.parquet"]
    assert run([*asked, "-o", "r", "--html", "p.html", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["run"] == "r"
    assert said.err == "Wrote p.html; it loads nothing from anywhere.\n"
    assert read((tmp_path / "p.html").read_text(encoding="utf-8")).open_at_end == []
    for place, why in (
        ("w.parquet", "w.parquet is what is read, and would be lost; choose another --html."),
        ("no/p.html", "no/p.html cannot be written: no is no folder; make it first."),
    ):
        assert run([*asked, "-o", "s", "--html", place]) == 2
        assert capsys.readouterr().err == f"vram: {why}\n"
        assert not Path("s").exists()


def test_the_headline_says_what_keeps_requests_waiting(simulation: Simulation) -> None:
    answers = simulation.main.answers
    binding = dict.fromkeys(answers.levels.binding, 0.0) | {"kv_cache": 0.38, "idle": 0.62}
    changed = replace(
        answers,
        levels=replace(answers.levels, binding=binding),
        recomputing=replace(answers.recomputing, preemptions=1204, share=0.031),
        queue_drains=False,
        lines=tuple(Line(f"line {i}", "x", False) for i in range(5)),
    )
    assert headline(changed) == (
        "Requests wait because the KV cache is full 38.0% of the time; requests are preempted 1,204 "
        "times, and 3.1% of all tokens are computed again; the queue does not drain while requests "
        "arrive; the contract fails at line 0, line 1, line 2 and 2 more."
    )
    calm = replace(
        answers,
        levels=replace(answers.levels, binding=binding | {"kv_cache": 0.0}),
        recomputing=replace(answers.recomputing, preemptions=0),
        lines=(Line("a", "x", True), Line("b", "x", None)),
        good=1,
    )
    assert headline(calm) == (
        "Hardly a request waits; nothing is preempted; what was checked of the contract holds."
    )


@pytest.mark.parametrize(
    "options",
    [
        ["--closed", "8"],
        ["--replicas", "2", "--prefill-servers", "1", "--kv-link-gib-s", "40"],
        ["--policy", "static"],
        ["--replicas", "2", "--router", "least-loaded"],
    ],
)
def test_every_way_of_serving_has_a_page(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(tmp_path / "w.parquet", chats(5, span_s=60))
    monkeypatch.chdir(tmp_path)
    asked = ["simulate", LAUNCH, "--gpu", "H100-80GB-SXM", "--workload", "w.parquet", *options]
    assert run([*asked, "-o", "r", "--html", "p.html"]) == 0
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    parts = drawn(page)["binding"]["data"]
    assert sum(part["x"][0] for part in parts) == pytest.approx(1)


def test_a_search_of_the_knee_has_its_curve_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(tmp_path / "w.parquet", chats(5, span_s=60))
    monkeypatch.chdir(tmp_path)
    asked = ["--gpu", "H100-80GB-SXM", "--workload", "w.parquet", "--no-prefix"]
    found = [*asked, "--knee", "--tolerance", "1", "--limit", "ttft_s p95 <= 1"]
    run(["simulate", LAUNCH, *found, "--html", "p.html", "--json"])
    curve = json.loads(capsys.readouterr().out)
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    figure = drawn(page)["knee-no-hits"]
    (answered,) = [each for each in figure["data"] if each["name"] == "answered"]
    assert len(answered["x"]) > 5
    assert answered["x"] == sorted(answered["x"])
    assert "time-no-hits" in drawn(page)
    assert "The records are in" not in page
    assert curve["schema"] == "vramledger.knee/1"
