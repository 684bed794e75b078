"""Results that other load generators wrote on a rehearsal server (30 requests each, some of them failing) become runs.

The files are of vllm bench serve 0.32, GuideLLM 0.8.1, AIPerf 0.13.0 and inference-perf 0.7.0, without prompts and answers.
"""

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recorded_runs import measured_request
from recorded_trials import described
from trial_command import steady_workload
from vramledger.cli.main import run
from vramledger.errors import BadInput
from vramledger.record.document import Ended
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.run import read_run
from vramledger.report.trial_export.registry import write_export
from vramledger.trial.conduct.sent import rows
from vramledger.trial.conduct.summary import summarise
from vramledger.trial.imported.failing import failed
from vramledger.trial.imported.importing import Imported, import_results

DATA = Path(__file__).parents[2] / "data" / "imports"
REAL = {
    "vllm_bench.json": (22, {"ok": 23, "failed": 3, "incomplete": 4}),
    "guidellm.json": (21, {"ok": 27, "failed": 3}),
    "aiperf": (24, {"ok": 25, "failed": 3, "incomplete": 2}),
    "inference_perf": (23, {"ok": 23, "failed": 3, "incomplete": 4}),
}


def imported(name: str, out: Path) -> Imported:
    (found,) = import_results([DATA / name], out)
    return found


@pytest.mark.parametrize("name", REAL)
def test_headline_figures_come_out_again(name: str, tmp_path: Path) -> None:
    figures, outcomes = REAL[name]
    found = imported(name, tmp_path / "run")
    assert [each.agrees for each in found.told.claims] == [True] * figures
    assert {key: count for key, count in found.summary.requests.items() if count} == outcomes
    assert read_run(tmp_path / "run").description.origin.value == "imported"


def test_a_changed_figure_is_not_agreed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = json.loads((DATA / "vllm_bench.json").read_text())
    content["mean_ttft_ms"] *= 0.99
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(content))
    assert run(["trial", "import", str(changed), "-o", str(tmp_path / "run")]) == 3
    assert (
        "NOT AGREED: TTFT mean of the file do not follow from its own requests by its own definitions; do not rely on either before "
        "you know why."
    ) in capsys.readouterr().out


def test_roles_are_told_from_tokens(tmp_path: Path) -> None:
    """VLLM's TTFT ends with the role; ours with the token after it, and the gap between them is not an ITL of ours."""
    found = imported("vllm_bench.json", tmp_path / "run")
    told = json.loads((DATA / "vllm_bench.json").read_text())
    answered = [each for each in rows(found.summary.run) if each["outcome"] == "ok"]
    assert answered
    for row in answered:
        place = row["request_id"]
        assert row["first_role_s"] - row["dispatched_s"] == pytest.approx(told["ttfts"][place])
        wait = row["first_content_s"] - row["first_role_s"]
        assert wait == pytest.approx(told["itls"][place][0])
        assert len(row["chunk_offset_us"]) == row["output_tokens_got"]


def test_failures_without_times_count_against_success(tmp_path: Path) -> None:
    found = imported("vllm_bench.json", tmp_path / "run")
    assert found.summary.latencies.offered["ttft_s"].p95 == float("inf")
    assert {each.name: each.count for each in found.summary.errors} == {
        "reset_mid_stream": 4,
        "http_500": 3,
    }


def test_show_tells_where_it_is_from_and_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imported("guidellm.json", tmp_path / "run")
    assert run(["trial", "show", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert text.startswith("IMPORTED from another tool, measured by its client: ")
    assert (
        "unseen      chunk_offset_us: the file has no times between the first and the last token, so there is no ITL.\n"
        in text
    )
    assert "warm-up     unknown: the file does not tell of one\n" in text
    assert "sent late" not in text
    assert run(["trial", "list", str(tmp_path)]) == 0
    assert "imported" in capsys.readouterr().out
    assert run(["size", "Qwen/Qwen3-8B", "--from-run", str(tmp_path / "run")]) == 3


def test_a_plan_holds_an_import_to_its_contract(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steady_workload(tmp_path / "w.parquet", 5)
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "name: p\nmodel: Qwen/Qwen3-8B\nengine: {name: vllm, version: '0.33'}\n"
        "workload: w.parquet\n"
        "scenarios: {all: {kind: latency, contract: {success: 0.99}}}\ngpus: [H100-80GB-SXM]\n"
    )
    out = tmp_path / "run"
    code = run(["trial", "import", str(DATA / "vllm_bench.json"), "-o", str(out), "--plan", str(plan)])  # fmt: skip
    assert code == 0, capsys.readouterr().err
    assert run(["trial", "show", str(out)]) == 1  # 23 of 30 were answered


def _cut(content: str) -> str:
    return content[: len(content) // 2]


def _longer(name: str, values: list[Any]) -> Callable[[str], str]:
    def change(content: str) -> str:
        found = json.loads(content)
        found[name] = found[name] + values
        return json.dumps(found)

    return change


def _with(name: str, value: str) -> Callable[[str], str]:
    return lambda content: content.replace(f'"{name}": ', f'"{name}": {value}, "was_{name}": ', 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_cut, "hostile.json is cut off before its end; use an unchanged copy."),
        (_with("duration", "NaN"), "is no JSON: it is damaged, or has a number that JSON does not have (NaN, Infinity) or too large a one;"),
        (_with("duration", "1e300"), "duration is 1e+300, not a time of this age;"),
        (_with("ttfts", "[]"), "has 30 values in input_lens and 0 in ttfts"),
        (_longer("ttfts", [1.0]), "so it is cut or put together"),
        (lambda _: "", "is empty; name the result of a load generator."),
        (lambda _: "[]", "is no result that can be read: has no keys."),
        (lambda _: '{"benchmark": 1}', "The nearest is GuideLLM."),
        (lambda _: '{"completed": 1, "duration": 2, "mean_ttft_ms": 3}', "run it again with --save-result --save-detailed."),
        (lambda _: '{"metadata": {"guidellm_version": "0.5", "version": 1}, "benchmarks": [1]}', "is a GuideLLM report of schema 1, and schema 2 is read here;"),
        (lambda _: '{"metadata": {"guidellm_version": "0.8", "version": 2}, "benchmarks": []}', "has no benchmark in it; run GuideLLM again."),
        (lambda _: '{"schema_version": "1.4", "request_latency": {}}', "is AIPerf's aggregate without its requests;"),
        (lambda _: '{"version": "0.1", "scenario": {}, "metrics": {}}', "is a benchmark report of schema 0.1, and schema 0.2 is read here;"),
        (lambda _: '{"load_summary": {}, "successes": {}, "failures": {}}', "is inference-perf's summary without its requests;"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_in_a_sentence(
    change: Callable[[str], str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hostile.json"
    path.write_text(change((DATA / "vllm_bench.json").read_text()))
    assert run(["trial", "import", str(path), "-o", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_two_tools_the_same_file_twice_and_no_text_are_refused(tmp_path: Path) -> None:
    out, bench = tmp_path / "run", DATA / "vllm_bench.json"
    with pytest.raises(BadInput, match="import the files of one tool at a time"):
        import_results([bench, DATA / "guidellm.json"], out)
    with pytest.raises(BadInput, match="is named twice; name every file once"):
        import_results([bench, bench], out)
    odd = tmp_path / "odd.json"
    odd.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(BadInput, match=r"is not UTF-8 text \(byte 7\); save it as UTF-8"):
        import_results([odd], out)
    odd.write_bytes(gzip.compress(bench.read_bytes())[:500])
    with pytest.raises(
        BadInput, match="cannot be unpacked: the gzip file is cut off; use an unchanged copy"
    ):
        import_results([odd], out)


def test_gzip_is_unpacked(tmp_path: Path) -> None:
    packed = tmp_path / "bench.json.gz"
    packed.write_bytes(gzip.compress((DATA / "vllm_bench.json").read_bytes()))
    (found,) = import_results([packed], tmp_path / "run")
    assert found.summary.requests["ok"] == 23


def test_words_of_failures_become_classes() -> None:
    assert failed("HTTPStatusError(\"Server error '503 Service Unavailable' for url 'u'\")").status == 503  # fmt: skip
    assert failed("Too Many Requests").error_class == "http_429"
    assert failed("TransferEncodingError: 400, payload is not completed").error_class == "reset_mid_stream"  # fmt: skip
    assert failed("something else").error_class == "foreign"


ANSWERS = st.lists(
    st.lists(st.integers(1, 400_000), min_size=0, max_size=5), min_size=1, max_size=5
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANSWERS)
def test_an_export_comes_back(gaps: list[list[int]]) -> None:
    """What was measured here, exported in the form of AIPerf and GuideLLM, is imported as the same requests, as far as the form holds them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "trial")
        with RecordedRun.start(folder, described()) as recording:
            for number, each in enumerate(gaps):
                offsets = tuple(sum(each[:upto]) for upto in range(len(each) + 1))
                recording.append(measured_request(number, 10.0 + number, offsets, input_tokens_got=9))  # fmt: skip
            recording.close(Ended.COMPLETE)
        summary = summarise(read_run(folder))
        before = {each["request_id"]: each for each in rows(summary.run)}
        for form in ("aiperf", "guidellm"):
            write_export(summary, form, Path(place, form))
            (found,) = import_results([Path(place, form)], Path(place, f"{form}-run"))
            assert all(each.agrees for each in found.told.claims)
            after = list(rows(found.summary.run))
            assert len(after) == len(before)
            for old, new in zip(before.values(), after, strict=True):
                _same(old, new, chunks=form == "aiperf")


def _same(old: dict[str, Any], new: dict[str, Any], *, chunks: bool) -> None:
    for name in ("first_content_s", "last_content_s"):
        assert new[name] - new["dispatched_s"] == pytest.approx(
            old[name] - old["dispatched_s"], abs=2e-6
        )
    assert new["output_tokens_got"] == old["output_tokens_got"]
    assert new["outcome"] == old["outcome"]
    if chunks:
        assert new["chunk_offset_us"] == pytest.approx(list(old["chunk_offset_us"]), abs=1)


def test_an_llm_d_report_has_counts_and_decides_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_export(imported("vllm_bench.json", tmp_path / "run").summary, "llm-d", tmp_path / "out")
    assert run(["trial", "import", str(tmp_path / "out"), "-o", str(tmp_path / "again")]) == 3
    text = capsys.readouterr().out
    assert "NOT CHECKED: no headline figure could be held against single requests." in text
    assert (
        "note: The report counts 30 requests, 7 of them failed or incomplete; none of them is in the run's table."
        in text
    )
