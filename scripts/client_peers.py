"""Other load generators, as far as they are installed: how each is asked for so many requests in a closed loop, and what it reports.

Options are those of `vllm bench serve` 0.32, AIPerf 0.13 and GuideLLM 0.8; each needs a tokenizer, and gets one of
whole words that is made on the spot. `scripts/live/prepare.py` installs the first, `scripts/peers/prepare.py` the others.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from client_questions import Question
from live.prepare import engine_python
from peers.prepare import programs

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}  # fmt: skip
UNKNOWN = "[UNK]"


@dataclass(frozen=True)
class Reported:
    """What a tool says of a run: the mean TTFT and the 99th percentile of the gaps, as it counts them."""

    ttft_ms: float
    itl_p99_ms: float


@dataclass(frozen=True)
class Peer:
    """Another tool.

    `command` makes its command of the program, the address, the question and a folder to write to, `report` reads what
    it wrote there. `factor` is how far ahead of it we must be. `most` is how many requests of one token it is asked
    for, where all of them would take minutes.
    """

    name: str
    program: str
    command: Callable[[Path, str, Question, Path], list[str]]
    report: Callable[[Path], Reported]
    factor: float
    folder: Callable[[], Path | None]
    most: int | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: OFFLINE)

    def find(self) -> Path | None:
        """The program, where it is installed."""
        folder = self.folder()
        path = folder / self.program if folder is not None else None
        return path if path is not None and path.is_file() else None

    def size(self, question: Question) -> Question:
        """The question in the size for this tool."""
        if self.most is None or question.tokens > 1:
            return question
        return replace(question, requests=min(self.most, question.requests))


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
        "--save-result", "--result-dir", str(folder), "--result-filename", "out.json", "--percentile-metrics", "ttft,itl",
    ]  # fmt: skip


def _vllm_report(folder: Path) -> Reported:
    told = json.loads((folder / "out.json").read_text())
    return Reported(told["mean_ttft_ms"], told["p99_itl_ms"])


def _aiperf(tool: Path, url: str, question: Question, folder: Path) -> list[str]:
    return [
        str(tool), "profile", "--url", url, "--model", "truth", "--endpoint-type", "chat", "--streaming",
        "--tokenizer", words_tokenizer(folder), "--concurrency", str(question.streams),
        "--request-count", str(question.requests), "--synthetic-input-tokens-mean", "48",
        "--output-tokens-mean", str(question.tokens), "--extra-inputs", f"max_tokens:{question.tokens}",
        "--ui", "none", "--output-artifact-dir", str(folder / "out"),
    ]  # fmt: skip


def _aiperf_report(folder: Path) -> Reported:
    """Its gaps between chunks: what it calls ITL is a mean per request."""
    told = json.loads((folder / "out" / "profile_export_aiperf.json").read_text())
    return Reported(told["time_to_first_token"]["avg"], told["inter_chunk_latency"]["p99"])


def _guidellm(tool: Path, url: str, question: Question, folder: Path) -> list[str]:
    data = f"kind=synthetic_text,prompt_tokens=48,output_tokens={question.tokens}"
    server = {
        "kind": "openai_http",
        "target": url,
        "model": "truth",
        "validate_backend": False,  # asks for a page that only vLLM has
        "extras": {"body": {"max_tokens": question.tokens}},
    }
    return [
        str(tool), "run", "--backend", json.dumps(server),
        "--profile", f"kind=concurrent,streams={question.streams}", "--data", data,
        "--constraint", f"kind=max_requests,count={question.requests}",
        "--tokenizer", f"kind=huggingface_auto,model={words_tokenizer(folder)}",
        "--output", f"kind=json,path={folder / 'out.json'}", "--disable-console",
    ]  # fmt: skip


def _guidellm_report(folder: Path) -> Reported:
    """Its ITL, which is a mean per request: it keeps no single gaps."""
    told = json.loads((folder / "out.json").read_text())["benchmarks"][0]["metrics"]
    gaps = told["inter_token_latency_ms"]["successful"]
    return Reported(
        told["time_to_first_token_ms"]["successful"]["mean"], gaps["percentiles"]["p99"]
    )


PEERS = (
    Peer("vllm bench serve", "vllm", _vllm, _vllm_report, 1.0, lambda: engine_python().parent),
    Peer("AIPerf", "aiperf", _aiperf, _aiperf_report, 8.0, lambda: programs("aiperf"), most=4_000, environment={}),
    Peer("GuideLLM", "guidellm", _guidellm, _guidellm_report, 8.0, lambda: programs("guidellm"), most=1_000),
)  # fmt: skip
