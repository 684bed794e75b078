"""A shadow comparison of SmolLM2 with its rounded copies on llama.cpp's own server, one server after the other.

Perplexity of the same rounding in transformers: 13.857 in 16 bits, 13.986 in int8 by row, 19.32 in int4 by groups of 64.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commands import vram_here

pytestmark = pytest.mark.live

HERE = Path(__file__).parent
ROUNDINGS = {"sixteen": (16, 0), "int8": (8, 0), "int4": (4, 64)}
ASKED = ("--requests", "40", "--max-tokens", "24", "--repeat-a", "0.5")


@contextmanager
def served(python: Path, model: Path) -> Iterator[str]:
    """The address of a server of that file, until the block ends."""
    command = [str(python), str(HERE / "llama_cpp_worker.py"), str(model), "4096", "4"]
    with (
        model.with_suffix(".log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), model.with_suffix(".log").read_text()[-2000:]
        try:
            yield address
        finally:
            process.stdin.close()  # its end
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture(scope="module")
def found(
    llama_cpp_python: Path, smollm2: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """The comparison of each copy with the recorded answers of the one in 16 bits."""
    folder = tmp_path_factory.mktemp("shadow")
    answers: dict[str, Any] = {}
    for name, rounding in ROUNDINGS.items():
        model, python = folder / f"{name}.gguf", str(llama_cpp_python)
        words = [str(HERE / "quantize_gguf.py"), str(smollm2), str(model), *map(str, rounding)]
        subprocess.run([python, *words], check=True)
        if name == "sixteen":
            with served(llama_cpp_python, model) as a:
                done = vram_here(
                    ["trial", "shadow", "--a", a, "--record", "a.json", *ASKED], folder
                )
                assert done.returncode == 0, done.stderr
        with served(llama_cpp_python, model) as b:  # another process of it, for "sixteen" too
            command = ["trial", "shadow", "--a-recorded", "a.json", "--b", b, "--json", *ASKED]
            done = vram_here(command, folder)
        answers[name] = json.loads(done.stdout) | {"code": done.returncode}
        model.unlink()
    return answers


def test_two_copies_of_the_same_server_are_equal(found: dict[str, Any]) -> None:
    same = found["sixteen"]
    assert (same["code"], same["verdict"], same["judged_by"]) == (0, "PASS", "noise")
    assert same["requests"]["answered"] == 40
    assert same["kl"]["value"] < 1e-3


def test_precisions_are_told_apart_as_perplexity_tells_them(found: dict[str, Any]) -> None:
    sixteen, eight, four = (found[name] for name in ROUNDINGS)
    assert (eight["verdict"], four["verdict"]) == ("FAIL", "FAIL")
    agree = [each["token_agreement"] for each in (sixteen, eight, four)]
    assert agree[0]["low"] > agree[1]["high"]
    assert agree[1]["low"] > agree[2]["high"]
    apart = [each["kl"] for each in (sixteen, eight, four)]
    assert apart[0]["high"] < apart[1]["low"]
    assert apart[1]["high"] < apart[2]["low"]
    assert four["exact"]["high"] < eight["exact"]["low"]
    median = [each["first_divergence_median"] for each in (eight, four)]
    assert median[1]["high"] < median[0]["low"]
