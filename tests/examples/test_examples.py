"""The plans that ship are sound, and some card holds each of them."""

import gzip
from pathlib import Path

import pytest

import demo
import make_example_log
from vramledger.plan.read import read_plan
from vramledger.sizing.from_plan import question_of
from vramledger.sizing.judge import unmet
from vramledger.sizing.search import size

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_sound_and_held(path: Path) -> None:
    requirement = read_plan(str(path))
    assert requirement.name == path.stem
    assert list(unmet(requirement)) == []
    sizing = size(question_of(requirement))
    assert all(card.best is not None for card in sizing.cards)


def test_the_demo_sizes_and_explains_one_ledger(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["demo.py"])
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert out.startswith("1. Which cards hold the requirement in ")
    assert "4 of 4 cards hold Qwen/Qwen2.5-72B-Instruct" in out
    assert "\n2. Where does every GiB go in the smallest that serves the checkpoint" in out
    assert "\nFITS: It starts and holds " in out
    assert "vram ledger 'vllm serve Qwen/Qwen2.5-72B-Instruct --max-model-len 32768" in out
    assert "\n3. What do the requests of a log ask for?   (vram workload import " in out
    assert "\n2,094 rows read, 2,087 kept, 7 dropped; litellm-spend (1 file)." in out
    assert "\nH100-80GB-SXM holds Qwen/Qwen3-30B-A3B-Instruct-2507" in out
    assert "\n  decided by long-burst" in out


def test_the_example_log_is_what_its_script_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "log.csv.gz"
    monkeypatch.setattr(make_example_log, "TARGET", written)
    make_example_log.main()
    assert gzip.decompress(written.read_bytes()) == gzip.decompress(demo.LOG.read_bytes())
