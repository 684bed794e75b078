"""What `vram trial run` says before it knows of a server."""

from pathlib import Path

import pytest

from commands import said, vram_here
from stored_workloads import request, stored


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--workload", "w.parquet"],
            "State the server with --url, such as http://localhost:8000; vram rehearse serves one to practise on.",
        ),
        (
            ["http://gpu-host:8000", "--workload", "w.parquet"],
            "The server's address is an option: vram trial run --url http://gpu-host:8000.",
        ),
    ],
)
def test_a_server_is_asked_for(words: list[str], sentence: str, tmp_path: Path) -> None:
    assert said(["trial", "run", *words], tmp_path, vram_here) == sentence


NOBODY = "http://127.0.0.1:9"  # nothing listens there, so that whoever asks it says so
VERBS = {
    "run": ["run"],
    "ramp": ["ramp"],
    "soak": ["soak"],
    "repeat": ["repeat", "2"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_load_that_means_nothing_is_refused_before_the_server_is_asked(
    verb: str, tmp_path: Path
) -> None:
    stored(tmp_path / "w.parquet", (request(0, arrival_s=0.0, input_tokens=5, output_tokens=5),))
    stored(tmp_path / "empty.parquet", ())
    asked = ["trial", *VERBS[verb], "--url", NOBODY, "-o", "r"]
    refused = {
        ("--workload", "gone.parquet"): "gone.parquet cannot be read: No such file or directory; check its path.",
        ("--workload", "empty.parquet"): "empty.parquet holds no request; import logs that do, or choose another slice.",
        ("--workload", "w.parquet", "--scenario", "dayly"): "Unknown scenario 'dayly' in --scenario; the nearest known ones are daily, day.",
        ("--workload", "w.parquet", "--tokenizer", "gone.json"): "gone.json cannot be read: No such file or directory; check its path.",
        ("--workload", "w.parquet", "--prompts", "gone.jsonl"): "gone.jsonl cannot be read: No such file or directory; give a file of prompts, one a line.",
    }  # fmt: skip
    if verb != "ramp":  # whose levels are the clients
        refused["--workload", "w.parquet", "--closed", "0"] = "--closed 0 is no number of clients; take 1 or more."  # fmt: skip
    for words, sentence in refused.items():
        told = said([*asked, *words], tmp_path, vram_here)
        assert told.removeprefix(f"{tmp_path}/") == sentence  # a series names whole paths
    assert not (tmp_path / "r").exists()


def test_a_scenario_that_the_log_does_not_have_is_refused_before_the_server_is_asked(
    tmp_path: Path,
) -> None:
    stored(tmp_path / "w.parquet", (request(0, arrival_s=0.0, input_tokens=5, output_tokens=5),))
    done = vram_here(
        ["trial", "run", "--url", NOBODY, "--workload", "w.parquet", "--scenario", "night"],
        tmp_path,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("vram: w.parquet has no scenario night. ")
