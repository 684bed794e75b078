"""Metrics pages of real servers, pages with traps, and anything that is none."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.cli.main import run
from vramledger.diagnose.pages.explain import Explained, explained
from vramledger.errors import BadInput, CannotKnow, ExitCode, VramError
from vramledger.report.explained_page import page_json, page_text

PAGE = """\
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 3
vllm:num_requests_running{engine="1",model_name="m"} 5
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 7
# TYPE vllm:gpu_cache_usage_perc gauge
vllm:gpu_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:gpu_cache_usage_perc{engine="1",model_name="m"} 0.5
# TYPE vllm:request_success counter
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 40
# TYPE vllm:request_success_created gauge
vllm:request_success_created{engine="0",finished_reason="stop",model_name="m"} 1.7e9
# TYPE vllm:e2e_request_latency_seconds histogram
vllm:e2e_request_latency_seconds_bucket{engine="0",le="1.0",model_name="m"} 10
vllm:e2e_request_latency_seconds_bucket{engine="0",le="5.0",model_name="m"} 40
vllm:e2e_request_latency_seconds_bucket{engine="0",le="+Inf",model_name="m"} 40
vllm:e2e_request_latency_seconds_count{engine="0",model_name="m"} 40
vllm:e2e_request_latency_seconds_sum{engine="0",model_name="m"} 80
# TYPE http_requests counter
http_requests_total{handler="/v1/completions",method="POST",status="2xx"} 60
"""


def traps(found: Explained) -> dict[str, str]:
    return {each.id: each.severity for each in found.findings}


def test_the_traps_of_a_page_are_named() -> None:
    found = explained(PAGE, "a page")
    said = traps(found)
    assert {"M01", "M02", "M03", "M04", "M05", "M07", "M09", "M15"} <= set(said)
    assert said["M04"] == "warning"
    aborts = next(each for each in found.findings if each.id == "M05")
    assert aborts.message.startswith("About 5 requests ended in no counter of the engine")
    assert aborts.supports == (
        "60 requests by the web server less 40 that the engine finished and 15 in flight.",
    )


def test_sums_largest_and_bounds() -> None:
    lines = {each.name: each for each in explained(PAGE, "a page").lines}
    assert lines["running"].value == 8
    assert lines["kv_usage"].value == 0.5
    assert (
        lines["running"].message
        == "Requests that the scheduler counts as running. 8 requests now; of 2 series."
    )
    assert lines["e2e_s"].mean == 2
    assert "95 % at most 1 to 5 s" in lines["e2e_s"].message
    assert "per request, once it has ended" in lines["e2e_s"].message


def test_a_quiet_page_has_no_warning() -> None:
    quiet = '# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0"} 0\n'
    assert all(each.severity == "silent" for each in explained(quiet, "a page").findings)


def test_captured_pages_are_read(shared_data: Path) -> None:
    pages = sorted((shared_data / "samples").glob("*metrics*.txt"))
    assert pages
    for path in pages:
        found = explained(path.read_text("utf-8"), path.name)
        names = {each.name for each in found.lines}
        assert {"running", "waiting", "generation_tokens"} <= names, path.name
        assert page_text(found)


def test_pages_that_are_none_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, code in (
        ("<html>", ExitCode.BAD_INPUT),
        ("", ExitCode.BAD_INPUT),
        ("up 1\n", ExitCode.CANNOT_KNOW),
    ):
        page = tmp_path / "page.txt"
        page.write_text(text)
        assert run(["diagnose", "--metrics", str(page)]) == code
    assert "has no metric of a serving engine that is known" in capsys.readouterr().err
    with pytest.raises(BadInput, match="reading it takes them away; give its /prometheus/metrics"):
        explained('[{"iter": 1, "numActiveRequests": 2}]', "a page")


@settings(max_examples=80)
@given(
    st.lists(
        st.sampled_from(PAGE.splitlines())
        | st.text(max_size=60)
        | st.sampled_from(
            [
                'vllm:x{a="' + "y" * 5_000 + '"} NaN',
                "vllm:num_requests_running -Inf",
                'vllm:kv_cache_usage_perc{engine="\x1b[31m"} NaN',
                'vllm:e2e_request_latency_seconds_bucket{le="NaN"} 1',
            ]
        ),
        max_size=20,
    )
)
def test_nothing_makes_it_crash(lines: list[str]) -> None:
    try:
        found = explained("\n".join(lines), "a page")
    except (BadInput, CannotKnow, VramError):
        return
    assert page_text(found)
    assert json.dumps(page_json(found))
