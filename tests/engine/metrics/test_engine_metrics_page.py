"""Metrics pages: as the reference parser reads them, at less cost, and nothing else taken for one."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from metrics_samples import VLLM
from vramledger.engine.metrics.page import PageProblem, PageReader
from vramledger.record.samples import MetricKind


def read(text: str) -> dict[tuple[str, str], float]:
    reader = PageReader()
    values = reader.read(text)
    return {(reader.series[n].raw_name, reader.series[n].labels): v for n, v in values.items()}


def by_the_reference(text: str) -> dict[tuple[str, str], float]:
    return {
        (
            sample.name,
            json.dumps(sample.labels, sort_keys=True, separators=(",", ":")),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def kinds(text: str) -> dict[str, MetricKind]:
    reader = PageReader()
    reader.read(text)
    return {series.raw_name: series.kind for series in reader.series}


def test_a_page_is_read_as_the_reference_parser_reads_it() -> None:
    assert read(VLLM) == by_the_reference(VLLM)


def test_pages_of_real_engines_are_read_as_the_reference_parser_reads_them(
    shared_data: Path,
) -> None:
    pages = sorted((shared_data / "samples").glob("vllm*metrics*.txt"))
    assert len(pages) >= 5
    for page in pages:
        assert read(page.read_text()) == by_the_reference(page.read_text()), page.name


def test_names_stay_as_they_stand_on_the_page(shared_data: Path) -> None:
    text = (shared_data / "samples" / "llama-server_metrics.txt").read_text()
    names = {name for name, _ in read(text)}
    assert "llamacpp:n_tokens_max" in names  # a counter without "_total", which the reference adds
    assert len(names) == 15


_TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\x85\u2028\u2029\x0b\x0c\x1c\x1d\x1e")
)


@given(
    st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True), _TEXTS, max_size=4),
    st.floats(allow_nan=False),
)
def test_any_label_comes_back(labels: dict[str, str], value: float) -> None:
    escaped = {
        key: text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for key, text in labels.items()
    }
    inner = ",".join(f'{key}="{text}"' for key, text in escaped.items())
    text = f"m{{{inner}}} {value!r}\n"
    canonical = json.dumps(labels, sort_keys=True, separators=(",", ":"))
    assert read(text) == {("m", canonical): value}


def test_a_second_reading_of_the_same_reader_sees_the_new_values() -> None:
    reader = PageReader()
    reader.read(VLLM)
    values = reader.read(VLLM.replace(" 37.0", " 38.0"))
    running = [n for n in values if reader.series[n].raw_name == "vllm:num_requests_running"]
    assert [values[n] for n in running] == [38.0, 5.0]
    assert len(reader.series) == len(values)


def test_open_metrics_is_read_too() -> None:
    text = (
        "# TYPE t counter\n"
        't_total{a="1"} 5.0 1700000000.0\n'
        "# TYPE h histogram\n"
        'h_bucket{le="1.0"} 3 # {trace_id="ab # c"} 0.5 1700000000.0\n'
        "# EOF\n"
    )
    assert read(text) == {("t_total", '{"a":"1"}'): 5.0, ("h_bucket", '{"le":"1.0"}'): 3.0}


def test_numbers_may_be_no_numbers_and_endless() -> None:
    found = read("a NaN\nb +Inf\nc -Inf\n")
    assert math.isnan(found[("a", "{}")])
    assert (found[("b", "{}")], found[("c", "{}")]) == (math.inf, -math.inf)


def test_of_a_series_that_is_there_twice_the_first_counts() -> None:
    reader = PageReader()
    assert list(reader.read('m{a="1",b="2"} 1\nm{b="2",a="1"} 7\n').values()) == [1.0]
    assert reader.doubled == 1


def test_how_a_figure_behaves_follows_from_its_stated_type_or_else_from_its_name() -> None:
    found = kinds(VLLM)
    assert found["vllm:num_requests_running"] is MetricKind.GAUGE
    assert found["vllm:num_preemptions_total"] is MetricKind.COUNTER
    assert found["vllm:num_preemptions_created"] is MetricKind.GAUGE
    assert found["vllm:time_to_first_token_seconds_bucket"] is MetricKind.BUCKET
    assert found["vllm:time_to_first_token_seconds_sum"] is MetricKind.COUNTER
    assert kinds("x_total 1\ny 1\n") == {"x_total": MetricKind.COUNTER, "y": MetricKind.GAUGE}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<!DOCTYPE html><html>\n", "a line of it is no sample of a metrics page"),
        ('{"iter": 5}\n', "a line of it is no sample of a metrics page"),
        ("\x7fELF\x02\x01\n", "a line of it is no sample of a metrics page"),
        ("m\n", "a line of it is no sample of a metrics page"),
        ('m{a="1} 5\n', "a line of it is no sample of a metrics page"),
        ("m{a=1} 5\n", "the labels of a line are not closed or not named"),
        ('m{"a"} 5\n', "the labels of a line are not closed or not named"),
        ("m five\n", "a value on it is no number"),
        ('m{a="1"}', "a line of it is no sample of a metrics page"),
    ],
)
def test_what_is_no_metrics_page_is_refused(text: str, why: str) -> None:
    with pytest.raises(PageProblem) as refused:
        read(text)
    assert str(refused.value) == why


def test_a_page_with_ever_new_series_is_refused_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vramledger.engine.metrics.page.MOST_SERIES", 3)
    reader = PageReader()
    reader.read('m{n="1"} 1\nm{n="2"} 1\n')
    with pytest.raises(PageProblem, match="it has had more than 3 different series"):
        reader.read('m{n="3"} 1\nm{n="4"} 1\n')


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        values = PageReader().read(text)
    except PageProblem:
        return
    assert all(isinstance(value, float) for value in values.values())
