"""The page of a workload: nothing is loaded, nothing out of a file is markup, the numbers are the profile's."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_profile import bare, whole
from read_page import HOSTILE, drawn, loads_of, read
from vramledger.errors import BadInput
from vramledger.report.html.figure import Figure
from vramledger.report.workload_html.page import FIGURES, to_html
from vramledger.report.workload_show import to_text
from vramledger.report.workload_tables import tables
from vramledger.workload.profile.bins import EDGES
from vramledger.workload.profile.json_form import from_json, to_json
from vramledger.workload.profile.profile import Profile


def figures(profile: Profile) -> list[Figure]:
    return [figure for figure in (make(profile) for make in FIGURES) if figure is not None]


@pytest.fixture(scope="module")
def page() -> str:
    return to_html(whole())


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    seen = read(page)
    assert loads_of(page) == []
    assert {tag for tag, *_ in seen.attributes} & {
        "link",
        "img",
        "iframe",
        "object",
        "base",
    } == set()
    policy = next(value for _, _, value in seen.attributes if value.startswith("default-src"))
    assert policy.split("; ") == [
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
    ]
    styles = "".join(seen.texts["style"])
    assert "url(" not in styles
    assert "@import" not in styles


def test_every_element_is_closed(page: str) -> None:
    assert read(page).open_at_end == []


def test_the_tables_say_what_the_profile_says(page: str) -> None:
    shown = read(page).tables
    for each in tables(whole()):
        assert shown[each.title] == [list(each.head), *map(list, each.rows)]
    assert shown["Lengths"][1] == [
        "input", "10", "155,369", "15,536.9", "1,100.5", "120,000", "120,000", "120,000", "120,000", "measured",
    ]  # fmt: skip


def test_every_figure_is_drawn_and_has_its_numbers_as_a_table(page: str) -> None:
    seen = read(page)
    assert set(drawn(page)) == {each.id for each in figures(whole())}
    assert len(drawn(page)) == len(FIGURES)
    for each in figures(whole()):
        assert seen.tables[each.table.title] == [list(each.table.head), *map(list, each.table.rows)]
        assert ("div", "id", f"{each.id}-plot") in seen.attributes
        assert f"{each.title}. {each.caption} The table below has the numbers." in {
            value for _, name, value in seen.attributes if name == "aria-label"
        }


def test_the_plots_hold_the_numbers_of_the_profile(page: str) -> None:
    profile, plots = whole(), drawn(page)
    assert profile.input_tokens is not None
    assert profile.joint is not None
    assert profile.holding is not None
    bars = plots["lengths"]["data"][0]
    assert list(zip([int(x) for x in bars["x"]], bars["y"], strict=True)) == list(
        map(tuple, profile.input_tokens.bins)
    )
    heat = plots["joint"]["data"][0]
    cells = {
        (int(x), int(y)): heat["customdata"][row][column][2]
        for row, y in enumerate(heat["y"])
        for column, x in enumerate(heat["x"])
        if heat["z"][row][column] is not None
    }
    assert cells == {(c.input_bin, c.output_bin): c.requests for c in profile.joint.cells}
    curve = plots["holding"]["data"][0]
    assert list(zip(curve["x"], curve["y"], strict=True)) == list(profile.holding.curve[1:])
    assert sum(plots["arrivals"]["data"][0]["y"]) == sum(profile.arrival.per_step)
    assert tuple(n for day in plots["week"]["data"][0]["z"] for n in day) == (
        profile.arrival.hour_of_week
    )
    assert plots["in-flight"]["data"][0]["x"] == [1.5, 1.0, 3.0, 4.0, 5]


def test_axes_are_marked_with_the_edges_they_stand_at(page: str) -> None:
    axis = drawn(page)["lengths"]["layout"]["xaxis"]
    assert axis["ticktext"] == [f"{EDGES[index]:,}" for index in axis["tickvals"]]
    assert 5 <= len(axis["ticktext"]) <= 15


def test_plotly_knows_every_property_of_the_figures() -> None:
    import plotly.graph_objects as go

    for each in figures(whole()):
        go.Figure(data=list(each.data), layout=each.layout)


def test_names_out_of_a_file_are_text_and_never_markup() -> None:
    hostile = replace(
        whole(),
        models={HOSTILE: 6, "model-1": 4},
        inferred=(HOSTILE,),
        time_zone=HOSTILE,
        formats={HOSTILE: 1},
        unknown={HOSTILE: HOSTILE},
        outcomes={HOSTILE: 10},
    )
    page = to_html(hostile)
    seen = read(page)
    assert seen.tables["Models"][1][0] == HOSTILE
    assert HOSTILE in seen.texts["li"]
    assert {tag for tag, *_ in seen.attributes} == {
        tag for tag, *_ in read(to_html(whole())).attributes
    }
    assert page.count("<script") == to_html(whole()).count("<script")
    assert "onerror" not in {name for _, name, _ in seen.attributes}


def test_everything_synthetic_says_so_in_its_title() -> None:
    seen = read(to_html(replace(whole(), synthetic=True)))
    assert all(caption.endswith(" (synthetic)") for caption in seen.tables)
    assert seen.texts["title"] == ["Workload (synthetic)"]
    assert all(
        title.endswith(" (synthetic)") or title in {"Where it comes from", "Not known"}
        for title in seen.texts["h2"]
    )


def test_a_page_of_a_log_that_only_counts_requests_says_what_is_not_known() -> None:
    seen = read(to_html(bare()))
    assert seen.tables == {}
    assert seen.texts["p"][0] == "Who holds the KV cache is not known: the log counts no tokens."
    assert drawn(to_html(bare())) == {}


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [-1, 0, 1, 10**18, 1e300, 0.5, "", "x", None, True, [], {}, [[0, 1]], [1]]
)


def places(content: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values of a JSON document are."""
    inside = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in inside:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places(value, (*above, key))


PROFILE = json.loads(json.dumps(to_json(whole())))
PLACES = list(places(PROFILE))


@given(st.sampled_from(PLACES), ODD)
def test_a_damaged_profile_is_refused_or_drawn(place: tuple[Any, ...], value: Any) -> None:
    damaged = json.loads(json.dumps(PROFILE))
    inner = damaged
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    try:
        profile = from_json(damaged, "profile.json")
    except BadInput:
        return
    assert to_text(profile, 80)
    assert len(figures(profile)) <= len(FIGURES)
