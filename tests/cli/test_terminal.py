"""What reaches the terminal: no control characters, no traceback, the right exit code."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from commands import CARD, ESC, SECONDS, VRAM, said, vram

CONFIG = {
    "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 256,
    "max_position_embeddings": 64,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.mark.parametrize("verb", ["inspect", "gpus", "size", "ledger"])
def test_a_name_of_100_000_letters_is_shown_in_part(folder: Path, verb: str) -> None:
    more = {"size": ["--users", "3"], "ledger": CARD}.get(verb, [])
    sentence = said([verb, "x" * 100_000, *more], folder)
    assert re.search(r"x \[\d+,\d{3} characters left out\] x", sentence)
    assert len(sentence) < 2_100


def test_hostile_names_reach_the_terminal_as_escapes(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{ESC}[31mred\n"
    path.mkdir()
    hostile = {**CONFIG, "architectures": [f"{ESC}]0;title\x07Llama"], "torch_dtype": "bfloat16"}
    (path / "config.json").write_text(json.dumps(hostile))
    done = vram(["inspect", str(path)], folder)
    assert done.returncode == 0
    assert r"\x1b[31mred" in done.stdout
    assert all(line.isprintable() for line in done.stdout.split("\n"))


def test_a_closed_output_is_no_error(folder: Path) -> None:
    closing = ["sh", "-c", 'exec "$@" >&-', "sh", *VRAM, "gpus"]
    done = subprocess.run(
        closing, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["ledger", "vllm serve Qwen/Qwen3-8B", "--gpu", "T4"], 1),
        (["gpus", "--json"], 0),
        (["--help"], 0),
        (["size", "--help"], 0),
        (["gpus", "--no-such-option"], 2),
    ],
)
def test_a_reader_that_has_gone_changes_no_exit_code(
    folder: Path, words: list[str], code: int
) -> None:
    there = vram(words, folder)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        done = vram(words, folder, capture_output=False, stdout=gone, stderr=subprocess.PIPE)
        nothing = vram(words, folder, capture_output=False, stdout=gone, stderr=gone)
    assert there.returncode == done.returncode == nothing.returncode == code
    assert done.stderr == there.stderr


def test_a_full_disk_is_one_sentence(folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = vram(
            ["gpus"], folder, capture_output=False, stdout=full, stderr=subprocess.PIPE
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2, "vram: The output cannot be written: No space left on device; send it elsewhere.\n"
    )  # fmt: skip


def test_interruption_is_one_line_and_exit_130(folder: Path) -> None:
    command = [*VRAM, "size", "Qwen/Qwen3-8B", "--users", "60"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, err.strip()) == (130, "", "vram: interrupted.")
