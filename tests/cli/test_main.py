"""The command line as a whole: greeting, help, errors, exit codes."""

import subprocess
import sys

import pytest

from vramledger.cli.main import GREETING, run
from vramledger.cli.verbs import VERBS


def test_vram_alone_greets_with_three_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    out = capsys.readouterr().out
    assert out.strip() == GREETING
    assert [line.split()[1] for line in out.splitlines() if line.startswith("  vram ")] == [
        "size",
        "ledger",
        "inspect",
    ]


def test_help_shows_every_verb_under_its_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert "Size:" in out
    for verb in VERBS:
        assert verb.help in out


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_verb_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == 0
    assert f"Usage: vram {verb}" in capsys.readouterr().out


def test_unknown_verb_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledgr"]) == 2
    assert capsys.readouterr().err == (
        "vram: Unknown verb 'ledgr'; the nearest known one is ledger. "
        "Run vram --help for the list.\n"
    )


def test_unknown_option_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--bogus"]) == 2
    assert capsys.readouterr().err == "vram: No such option '--bogus'. See vram --help.\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from vramledger.cli.main import run\n"
        "run(['--help'])\n"
        "heavy = {'rich', 'pydantic', 'ruamel', 'huggingface_hub', 'prometheus_client', 'pynvml',\n"
        "         'numpy', 'httpx', 'requests', 'urllib.request', 'vramledger.model',\n"
        "         'vramledger.ledger'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m vramledger --help | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602  our own command
    assert done.stderr == ""
