"""A shadow comparison on vLLM's own CPU engine: SmolLM2 in bf16 beside another process of it, and beside its int8 and int4 copies.

The int8 copy runs vLLM's int8 kernels (weights and activations), the int4 one has its rounding in bf16. Perplexity of such roundings in
transformers: 13.857 in bf16, 13.986 in int8 by row, 19.32 in int4 by groups of 64 (on the text of the Apache licence).
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import vram_here
from live.real_engine import QUIET
from live.served_engine import Served

pytestmark = pytest.mark.live

HERE = Path(__file__).parent
OPTIONS = (
    "--served-model-name smol --max-model-len 1024 --dtype bfloat16 --gpu-memory-utilization 0.1 --kv-cache-memory-bytes 64M "
    "--enforce-eager --max-num-seqs 8 --load-format auto"
)  # the weights that were written, where other tests are served with made-up ones
ROUNDINGS = {"sixteen": (16, 0), "int8": (8, 0), "int4": (4, 64)}


def folder_of(
    python: Path, gguf_home: Path, weights: Path, place: Path, bits: int, group: int
) -> Path:
    """The model rounded so, as a folder that vLLM serves."""
    command = [str(python), str(HERE / "hf_from_gguf.py"), str(weights), str(place), str(bits), str(group)]  # fmt: skip
    known = os.environ | QUIET | {"PYTHONPATH": str(gguf_home)}
    subprocess.run(command, check=True, env=known)
    return place


@pytest.fixture(scope="module")
def gguf_home(llama_cpp_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `gguf` alone: vLLM's environment has all that it needs, but not the package itself."""
    home = tmp_path_factory.mktemp("gguf")
    ask = "import gguf, pathlib; print(pathlib.Path(gguf.__file__).parent)"
    done = subprocess.run([str(llama_cpp_python), "-c", ask], check=True, capture_output=True, text=True)  # fmt: skip
    package = Path(done.stdout.strip())
    for each in (package, *package.parent.glob("gguf-*.dist-info")):
        (home / each.name).symlink_to(each)
    return home


@pytest.fixture(scope="module")
def found(
    engine_python: Path, gguf_home: Path, smollm2: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """Each copy compared with the one in bf16, which is served all the while."""
    home = tmp_path_factory.mktemp("vllm")
    prompts = home / "own.jsonl"
    texts = [f"Tell me about {each} in a few words." for each in SUBJECTS]
    prompts.write_text("\n".join(json.dumps({"prompt": each}) for each in texts), encoding="utf-8")
    whole = folder_of(engine_python, gguf_home, smollm2, home / "sixteen", 16, 0)
    a = Served(engine_python, whole, OPTIONS, home / "a.log")
    answers: dict[str, Any] = {}
    try:
        a.await_healthy()
        for name, (bits, group) in ROUNDINGS.items():
            model = whole
            if name != "sixteen":
                model = folder_of(engine_python, gguf_home, smollm2, home / name, bits, group)
            b = Served(engine_python, model, OPTIONS, home / f"{name}.log")
            try:
                b.await_healthy()
                command = ["--a", a.address, "--b", b.address, "--prompts", str(prompts), "--max-tokens", "24", "--repeat-a", "0.5"]  # fmt: skip
                done = vram_here(["trial", "shadow", *command, "--json"], home)
                assert done.stdout, done.stderr
                answers[name] = json.loads(done.stdout) | {"code": done.returncode}
            finally:
                b.close()
        yield answers
    finally:
        a.close()


SUBJECTS = (
    "the ocean", "bread", "the French Revolution", "photosynthesis", "a bicycle", "the Moon", "insurance", "jazz", "the steam engine",
    "democracy", "chess", "vaccines", "the Silk Road", "volcanoes", "money", "the violin", "prime numbers", "earthquakes", "coffee",
    "the printing press", "migration of birds", "glass", "the Roman Empire", "sleep", "electricity", "gardening", "the alphabet", "bees",
    "maps", "friendship", "rivers", "the telephone",
)  # fmt: skip


def test_another_process_of_the_same_engine_is_equal(found: dict[str, Any]) -> None:
    same = found["sixteen"]
    assert (same["code"], same["verdict"], same["judged_by"]) == (0, "PASS", "noise")
    assert (same["a"]["engine"], same["unit"]) == ("vllm", "tokens")
    assert same["same_text"]["texts"] == len(SUBJECTS)
    assert same["same_text"]["failed"] == {"a": 0, "b": 0}
    assert same["same_text"]["answer"]["kl"]["value"] < 1e-2


def test_the_divergence_on_the_same_text_orders_the_precisions(found: dict[str, Any]) -> None:
    sixteen, eight, four = (found[name]["same_text"] for name in ROUNDINGS)
    for one, worse in ((sixteen, eight), (eight, four)):
        for name in ("answer", "prompt"):
            assert one[name]["kl"]["high"] < worse[name]["kl"]["low"]
            assert one[name]["js"]["lower"]["high"] < worse[name]["js"]["lower"]["low"]
        assert one["answer"]["less_likely"]["high"] < worse["answer"]["less_likely"]["low"]
        assert one["answer"]["same_likeliest"]["low"] > worse["answer"]["same_likeliest"]["high"]
    texts = eight["answer"]["places"], four["answer"]["places"]
    assert texts[0] == texts[1]  # A's answers, whoever reads them


def test_the_lower_precisions_are_found_to_differ(found: dict[str, Any]) -> None:
    four = found["int4"]
    assert (four["code"], four["verdict"]) == (1, "FAIL")
    agree = [found[name]["token_agreement"] for name in ROUNDINGS]
    assert agree[0]["low"] > agree[2]["high"]
    assert agree[1]["low"] > agree[2]["high"]
