"""`vram diagnose` as a command: verdicts as exit codes, one JSON object, refusals in a sentence."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from commands import vram_here
from documents.json_keys import covers, documented, printed_paths
from ground_truth.cases import made

HERE = Path(__file__).parent
JSON_PAGE = HERE.parents[1] / "docs" / "reference" / "json.md"


def vram(*arguments: str) -> CompletedProcess[str]:
    return vram_here(["diagnose", *arguments], HERE)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made("kv_cache", 2, tmp_path_factory.mktemp("short") / "run")


def test_a_shortage_exits_with_1_and_prints_documented_keys(short: Path) -> None:
    done = vram(str(short), "--json", "--upgrade", "H200-141GB-SXM", "--against", str(short), "--price", "H200-141GB-SXM=3.5")  # fmt: skip
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema"] == "vramledger.diagnosis/1"
    assert answer["verdict"] == answer["findings"][0]["cause"] == "kv_cache"
    assert answer["more_memory_helps"]["now"] == "yes"
    assert answer["controlled_test"]["fell"] is None
    keys = documented(JSON_PAGE.read_text(encoding="utf-8"))["vramledger.diagnosis/1"]
    assert [path for path in printed_paths(answer) if not covers(keys, path)] == []


def test_a_shortage_is_told_in_words(short: Path) -> None:
    done = vram(str(short))
    assert done.returncode == 1
    assert done.stdout.startswith("ERROR D01 KV cache exhausted. Requests wait ")
    assert "\nWould more memory help? Now: Yes. Played with 2 times the KV cache, " in done.stdout
    assert "\nremedies, each by itself (simulated)\n" in done.stdout


def test_a_healthy_server_exits_with_0(tmp_path: Path) -> None:
    done = vram(str(made("healthy", 2, tmp_path / "run")))
    assert done.returncode == 0
    assert done.stdout.startswith(
        "HEALTHY: Nothing that was looked for was found: the server keeps up with this load.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "vram: Name the folder of a run to diagnose; vram trial run records one.\n"),
        (("nowhere",), "vram: nowhere is no folder, and a run is one; name the folder of a run.\n"),
    ],
)
def test_what_is_no_run_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = vram(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_price_that_is_none_is_refused(short: Path) -> None:
    done = vram(str(short), "--price", "H100-80GB-SXM")
    assert done.returncode == 2
    assert done.stderr == (
        "vram: --price H100-80GB-SXM is no price; write CARD=AMOUNT, of one GPU and hour, such as H100-80GB-SXM=2.50.\n"
    )
