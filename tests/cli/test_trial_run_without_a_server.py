"""What `vram trial run` says before it knows of a server."""

from pathlib import Path

import pytest

from commands import said, vram_here


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
