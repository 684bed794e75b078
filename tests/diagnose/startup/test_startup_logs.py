"""Logs that real servers printed, logs of this tree, and anything that is none."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.cli.main import run
from vramledger.diagnose.startup.account import Asked
from vramledger.diagnose.startup.judge import diagnose_file, diagnose_stream
from vramledger.errors import BadInput, ExitCode
from vramledger.report.diagnosed_log import log_json, log_text

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def test_captured_logs_are_what_they_are(shared_data: Path) -> None:
    logs = sorted((shared_data / "samples").glob("*.log"))
    assert logs
    for path in logs:
        found = diagnose_file(path, Asked())
        failed = "FAIL" in path.name or path.name == "xllamacpp_unified.log"
        assert found.exit_code is (ExitCode.DOES_NOT_HOLD if failed else ExitCode.HOLDS), path.name


def test_the_account_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(
        ["diagnose", "--server-log", str(EXAMPLES / "too-long.log"), "--gpu", "L4", "--json"]
    )
    document = json.loads(capsys.readouterr().out)
    assert code == ExitCode.DOES_NOT_HOLD
    first = document["findings"][0]
    assert first["next_change"] == {
        "text": "--max-model-len 31456",
        "flag": "max-model-len",
        "value": "31456",
    }
    assert any(
        text.startswith("Our own account comes to the same end.") for text in first["supports"]
    )
    assert document["more_memory_helps"]["now"] == "yes"


def test_a_healthy_start_stands_beside_the_account(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(
        [
            "diagnose",
            "--server-log",
            str(EXAMPLES / "startup.log"),
            "--gpu",
            "H100-80GB-SXM",
            "--json",
        ]
    )
    document = json.loads(capsys.readouterr().out)
    assert code == ExitCode.HOLDS
    assert document["verdict"] == "started"
    assert {each["key"] for each in document["measured"]} >= {"kv_cache_gib", "kv_tokens"}


def test_other_options_have_no_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diagnose", "a-run", "--server-log", "x.log"]) == ExitCode.BAD_INPUT
    assert (
        "A run and --server-log ask different questions; ask one at a time."
        in capsys.readouterr().err
    )
    assert run(["diagnose", "--server-log", "x.log", "--upgrade", "L4"]) == ExitCode.BAD_INPUT
    assert "--upgrade has no part with --server-log; leave it out." in capsys.readouterr().err


def test_an_empty_log_is_refused() -> None:
    with pytest.raises(BadInput, match="is empty; give what the server printed from its start on"):
        diagnose_stream(io.BytesIO(b""), "the standard input", Asked())


@settings(max_examples=60)
@given(
    st.lists(
        st.binary(max_size=300)
        | st.sampled_from(
            [
                b"CUDA out of memory. Tried to allocate nan GiB",
                b"Killed",
                b"x" * 70_000,
                b"max seq len (0), (0 GiB KV cache is needed available KV cache memory (0 GiB)",
            ]
        ),
        min_size=1,
        max_size=12,
    )
)
def test_nothing_makes_it_crash(pieces: list[bytes]) -> None:
    try:
        found = diagnose_stream(io.BytesIO(b"\n".join(pieces)), "x", Asked())
    except BadInput:
        return
    assert log_text(found)
    assert json.dumps(log_json(found))
