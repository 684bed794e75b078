"""A file of several benchmarks, or one that is cut off, becomes all of its runs or none; large ones are read in pieces."""

import gzip
import io
import json
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vramledger.cli.main import run
from vramledger.errors import BadInput
from vramledger.trial.conduct.sent import rows
from vramledger.trial.imported import in_order
from vramledger.trial.imported.importing import import_results
from vramledger.trial.imported.json_stream import outline, values

DATA = Path(__file__).parents[2] / "data" / "imports"


def test_two_benchmarks_of_one_file(tmp_path: Path) -> None:
    """A real file of GuideLLM with all that it writes about rates."""
    found = import_results([DATA / "guidellm_two.json.gz"], tmp_path / "made" / "runs")
    assert [each.folder.name for each in found] == ["01", "02"]
    assert [[claim.agrees for claim in each.told.claims] for each in found] == [[True] * 23] * 2
    assert [each.summary.requests["ok"] for each in found] == [39, 38]
    assert [len(list(rows(each.summary.run))) for each in found] == [40, 40]
    assert sorted(each.name for each in (tmp_path / "made").iterdir()) == ["runs"]


def _second_changed(content: Any) -> None:
    timings = content["benchmarks"][1]["requests"]["successful"][5]["info"]["timings"]
    timings["first_token_iteration"] = timings["request_start"] - 1.0


def test_a_bad_second_benchmark_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(gzip.decompress((DATA / "guidellm_two.json.gz").read_bytes()))
    _second_changed(content)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(content))
    assert run(["trial", "import", str(path), "-o", str(tmp_path / "made" / "runs")]) == 2
    assert "of GuideLLM has moments out of order" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["changed.json"]


def test_results_appended_to_one_file(tmp_path: Path) -> None:
    """`vllm bench serve --append-result` writes one object a line."""
    line = json.dumps(json.loads((DATA / "vllm_bench.json").read_text()))
    path = tmp_path / "both.json"
    path.write_text(f"{line}\n\n{line}\n")
    found = import_results([path], tmp_path / "runs")
    assert [each.summary.requests["ok"] for each in found] == [23, 23]
    assert all(claim.agrees for each in found for claim in each.told.claims)
    path.write_text(f"{line}\n{line[:900]}")
    with pytest.raises(BadInput, match=r"both.json, result 2 is cut off before its end; use an"):
        import_results([path], tmp_path / "again")


def test_figures_of_aiperf_s_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = DATA / "aiperf_table"
    (found,) = import_results([place], tmp_path / "run")
    assert [each.agrees for each in found.told.claims].count(True) == 22
    assert [each.name for each in found.told.claims if each.agrees is None] == [
        "throughput requests",
        "throughput output tokens",
    ]
    table = place / "profile_export_aiperf.csv"
    assert run(["trial", "import", str(table), "-o", str(tmp_path / "none")]) == 2
    assert "is AIPerf's aggregate without its requests; name profile_export.jsonl" in capsys.readouterr().err  # fmt: skip
    changed = tmp_path / table.name
    changed.write_text(table.read_text().replace("Request Latency (ms),", "Request Latency (ms),x", 1))  # fmt: skip
    records = place / "profile_export.jsonl.gz"
    with pytest.raises(BadInput, match=r"'x[\d.]+' is no number; use an unchanged copy of the file"):  # fmt: skip
        import_results([records, changed], tmp_path / "none")


def test_the_table_of_guidellm_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "benchmarks.csv"
    path.write_text("Run Info,Run Info\nModel,Backend\n,\ntruth,openai\n")
    assert run(["trial", "import", str(path), "-o", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == (
        f"vram: {path} is GuideLLM's table of figures without its requests; name benchmarks.json of the same folder.\n"
    )


def _lines(change: Callable[[dict[str, Any]], None]) -> str:
    told = [json.loads(line) for line in (DATA / "aiperf" / "profile_export.jsonl").read_text().splitlines()]  # fmt: skip
    change(told[3])
    return "\n".join(map(json.dumps, told))


def _ended_before(row: dict[str, Any]) -> None:
    row["metrics"]["time_to_first_token"]["value"] = -5.0


def _negative(row: dict[str, Any]) -> None:
    row["metrics"]["inter_chunk_latency"]["value"][2] = -1.0


def _text(row: dict[str, Any]) -> None:
    row["metadata"]["request_start_ns"] = "soon"


def _none(row: dict[str, Any]) -> None:
    del row["metadata"]["request_start_ns"]


def _nan(row: dict[str, Any]) -> None:
    row["metrics"]["request_latency"]["value"] = float("nan")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_ended_before, "Request 3 of AIPerf has moments out of order"),
        (_negative, "profile_export.jsonl:4, metrics, inter_chunk_latency has a time below 0; use an unchanged copy of the file."),
        (_text, "profile_export.jsonl:4, metadata, request_start_ns is 'soon', not a time; use an unchanged copy of the file."),
        (_none, "profile_export.jsonl:4 has no request_start_ns; use an unchanged copy of the file."),
        (_nan, "profile_export.jsonl:4 is no JSON, so the file is cut off or damaged; use an unchanged copy."),
    ],
)  # fmt: skip
def test_hostile_lines_are_refused_in_a_sentence(
    change: Callable[[dict[str, Any]], None], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    path = tmp_path / "profile_export.jsonl"
    path.write_text(_lines(change))
    assert run(["trial", "import", str(path), "-o", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["profile_export.jsonl"]


def test_requests_that_are_there_twice(tmp_path: Path) -> None:
    path = tmp_path / "profile_export.jsonl"
    lines = (DATA / "aiperf" / "profile_export.jsonl").read_text().splitlines()
    path.write_text("\n".join([*lines, lines[4]]))
    with pytest.raises(BadInput, match=r"profile_export.jsonl:31 is of a request that an earlier line is of; use an unchanged copy\."):  # fmt: skip
        import_results([path], tmp_path / "run")
    content = json.loads((DATA / "guidellm.json").read_text())
    groups = content["benchmarks"][0]["requests"]
    groups["errored"].append(groups["successful"][0])
    path = tmp_path / "guidellm.json"
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput, match=r"requests.errored\[3\] is in the file twice; use an unchanged copy\."):  # fmt: skip
        import_results([path], tmp_path / "run")


def test_any_order_and_any_number_of_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = import_results([DATA / "aiperf"], tmp_path / "whole")
    monkeypatch.setattr(in_order, "_PART_BYTES", 2_000)
    (parts,) = import_results([DATA / "aiperf"], tmp_path / "parts")
    before, after = list(rows(whole.summary.run)), list(rows(parts.summary.run))
    assert after == before
    assert [each["due_s"] for each in after] == sorted(each["due_s"] for each in after)
    assert after[0]["due_s"] == 0.0


class _Endless:
    """A JSON object with a list of so many lists."""

    def __init__(self, number: int) -> None:
        self._left = number
        self._next = [b'{"a": 1, "itls": [[1.5]']

    def read(self, most: int = -1, /) -> bytes:
        if not most:  # asked to see whether it is bytes
            return b""
        if self._next:
            return self._next.pop()
        if not self._left:
            return b""
        self._left -= 1
        return b", [0.25, 0.5]" * 1_000 if self._left else b'], "b": 2}'


def _peak(number: int) -> int:
    """Bytes held at most while a list of so many thousand is read twice."""
    tracemalloc.start()
    try:
        found = outline(_Endless(number), "f")
        count = sum(1 for _ in values(_Endless(number), "itls.item", "f"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.value["a"], found.value["b"]) == (1, 2)
    assert found.lengths["itls"] == (count,) == ((number - 1) * 1_000 + 1,)
    assert len(found.value["itls"]) == 64
    return peak


def test_lists_are_never_held() -> None:
    _peak(2)  # imports
    assert _peak(200) < 2 * _peak(20)


def test_values_beyond_bounds_are_refused() -> None:
    with pytest.raises(BadInput, match="it is nested more than 64 deep"):
        outline(io.BytesIO(b"[" * 500 + b"]" * 500), "f")


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    line = (DATA / "aiperf" / "profile_export.jsonl").read_text().splitlines()[4]
    path = tmp_path / "profile_export.jsonl"
    name = json.loads(line)["metadata"]["x_request_id"]
    with path.open("w") as file:
        for number in range(12_000):
            file.write(line.replace(name, f"r-{number}") + "\n")
    out = tmp_path / "made" / "run"
    program = [sys.executable, "-m", "vramledger", "trial", "import", str(path), "-o", str(out)]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
    with process:
        ends = time.monotonic() + 120
        while not list((tmp_path / "made").glob(".run-*")) and time.monotonic() < ends:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=120)[1]
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert [each.name for each in tmp_path.iterdir()] == ["profile_export.jsonl"]
