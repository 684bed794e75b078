"""Whole public traces through `vram workload import`, against plain Python over the raw files."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

import plain_traces as plain
from commands import vram
from plain_traces import PlainRow
from vramledger.workload.profile.compute import profile_workload
from vramledger.workload.profile.profile import Lengths, Profile


class Trace(NamedTuple):
    """A file of the reference data, its format, and who else can read it."""

    file: str
    format: str
    read: Callable[[Path], Iterable[PlainRow]]


TRACES = (
    Trace("azure_llm_2023_code.csv", "azure-llm", plain.azure),
    Trace("azure_llm_2023_conv.csv", "azure-llm", plain.azure),
    Trace("burstgpt_1_first3rows.csv", "burstgpt", plain.burstgpt),
    Trace("burstgpt_3_first4rows.csv", "burstgpt", plain.burstgpt),
    Trace("mooncake_conversation_trace.jsonl", "mooncake", plain.mooncake),
    Trace("mooncake_synthetic_trace.jsonl", "mooncake", plain.mooncake),
    Trace("bailian_readme_example.jsonl", "bailian", plain.bailian),
    Trace("tracelab_example_round_trace.jsonl", "tracelab", plain.tracelab),
    Trace("sharegpt_format_fastchat_dummy.json", "sharegpt", plain.sharegpt),
)
_PERCENTS = {"p50": "50", "p95": "95", "p99": "99", "p999": "99.9"}
_ROWS_IN_A_RECORD = {"sharegpt"}  # of these one record of the log is several requests


class Imported(NamedTuple):
    """What an import wrote and printed, and what should be in it."""

    trace: Trace
    said: dict[str, Any]
    columns: dict[str, list[Any]]
    profile: Profile
    expected: list[PlainRow]


@pytest.fixture(scope="module", params=TRACES, ids=[each.file for each in TRACES])
def imported(
    request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Imported:
    trace: Trace = request.param
    folder = tmp_path_factory.mktemp("trace")
    log = shared_data / "traces" / trace.file
    done = vram(["workload", "import", str(log), "-o", "w.parquet", "--json"], folder)
    assert done.returncode == 0, done.stderr
    stored = folder / "w.parquet"
    return Imported(
        trace,
        json.loads(done.stdout),
        pq.read_table(stored).to_pydict(),
        profile_workload(stored),
        plain.in_order(trace.read(log)),
    )


def test_every_row_is_counted_and_none_is_dropped(imported: Imported, shared_data: Path) -> None:
    said, trace = imported.said, imported.trace
    assert said["schema"] == "vramledger.import/1"
    assert said["formats"] == {trace.format: 1}
    assert said["dropped"] == {}
    assert said["rows_read"] == said["rows_kept"]
    assert said["requests"] == len(imported.expected)
    if trace.format in _ROWS_IN_A_RECORD:
        records = json.loads((shared_data / "traces" / trace.file).read_text(encoding="utf-8"))
        assert said["rows_read"] == len(records)
    else:
        assert said["rows_read"] == len(imported.expected)


def test_every_length_is_the_raw_files(imported: Imported) -> None:
    for name in ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens"):
        assert imported.columns[name] == [getattr(each, name) for each in imported.expected], name


def test_every_arrival_is_the_raw_files_to_the_nanosecond(imported: Imported) -> None:
    zero = imported.expected[0].arrival_ns
    found = [
        None if each is None else round(each * 10**9) for each in imported.columns["arrival_s"]
    ]
    assert found == [
        None if each.arrival_ns is None or zero is None else each.arrival_ns - zero
        for each in imported.expected
    ]


def test_durations_and_outcomes_are_the_raw_files(imported: Imported) -> None:
    assert [
        None if each is None else round(each * 10**9) for each in imported.columns["duration_s"]
    ] == [each.duration_ns for each in imported.expected]
    assert imported.columns["outcome"] == [each.outcome for each in imported.expected]
    assert imported.profile.outcomes == Counter(each.outcome for each in imported.expected)


def test_identities_are_numbered_by_first_appearance(imported: Imported) -> None:
    sessions = [each.session for each in imported.expected]
    assert imported.columns["session"] == plain.numbered(sessions)
    assert imported.columns["tenant"] == plain.numbered(each.tenant for each in imported.expected)


def test_prefix_blocks_keep_which_prompts_begin_alike(imported: Imported) -> None:
    assert imported.columns["prefix_blocks"] == plain.numbered_blocks(imported.expected)


@pytest.mark.parametrize("name", ["input_tokens", "output_tokens"])
def test_totals_and_percentiles_are_exact(imported: Imported, name: str) -> None:
    values = [getattr(each, name) for each in imported.expected]
    found: Lengths | None = getattr(imported.profile, name)
    assert found is not None
    assert (found.count, found.total) == (len(values), sum(values))
    assert (found.min, found.max) == (min(values), max(values))
    assert found.mean == sum(values) / len(values)
    for field, percent in _PERCENTS.items():
        expected = plain.percentile(values, percent)
        assert getattr(found, field) == pytest.approx(expected, rel=1e-13, abs=0)


def test_the_traces_are_those_that_were_described(shared_data: Path) -> None:
    """Figures that others published of these files, so that both readers cannot err alike."""
    folder = shared_data / "traces"
    code = list(plain.azure(folder / "azure_llm_2023_code.csv"))
    assert len(code) == 8819
    assert plain.percentile([each.input_tokens for each in code], "50") == 1469
    assert max(each.output_tokens for each in code) == 1899
    talk = list(plain.mooncake(folder / "mooncake_conversation_trace.jsonl"))
    assert len(talk) == 12031
    assert max(each.input_tokens for each in talk) == 126195
    assert len({each.arrival_ns for each in talk}) == 1180


@pytest.mark.parametrize(
    "file",
    ["servegen_m-small_chunk-27-trace.csv", "servegen_m-small_chunk-27-dataset.json.gz"],
)
def test_a_description_of_rates_is_no_log(file: str, shared_data: Path, tmp_path: Path) -> None:
    log = shared_data / "traces" / file
    done = vram(["workload", "import", str(log), "-o", "w.parquet", "--json"], tmp_path)
    assert done.returncode == 2
    assert "holds no requests; `vram workload synth --like` reads it" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "w.parquet").exists()
