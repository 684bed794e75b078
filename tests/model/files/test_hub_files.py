"""The hub: against a small server on this machine that answers as the hub does."""

import json
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Basis
from vramledger.model.files import hub
from vramledger.model.files.hub_http import HttpClient
from vramledger.model.load import load_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16",
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 128, "vocab_size": 256, "tie_word_embeddings": True,
}  # fmt: skip


def tensors() -> dict[str, list[int]]:
    """Names and shapes of the model above as a checkpoint stores it."""
    shapes = {"model.embed_tokens.weight": [256, 64], "model.norm.weight": [64]}
    for i in range(2):
        prefix = f"model.layers.{i}"
        for name, shape in {
            "self_attn.q_proj": [64, 64], "self_attn.k_proj": [32, 64],
            "self_attn.v_proj": [32, 64], "self_attn.o_proj": [64, 64],
            "mlp.gate_proj": [128, 64], "mlp.up_proj": [128, 64], "mlp.down_proj": [64, 128],
            "input_layernorm": [64], "post_attention_layernorm": [64],
        }.items():  # fmt: skip
            shapes[f"{prefix}.{name}.weight"] = shape
    return shapes


def shard(shapes: dict[str, list[int]], padding: int = 0) -> bytes:
    """The header of a safetensors file, and `padding` spaces to make it long; no data follows."""
    header: dict[str, object] = {}
    position = 0
    for name, shape in shapes.items():
        size = 2
        for n in shape:
            size *= n
        header[name] = {
            "dtype": "BF16", "shape": shape, "data_offsets": [position, position + size]
        }  # fmt: skip
        position += size
    text = json.dumps(header).encode() + b" " * padding
    return struct.pack("<Q", len(text)) + text


@dataclass
class Hub:
    """What the server holds, and what it was asked."""

    files: dict[str, bytes]
    token: str | None = None
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""


def sharded() -> dict[str, bytes]:
    names = list(tensors().items())
    parts = {"model-00001-of-00002.safetensors": dict(names[:8])}
    parts["model-00002-of-00002.safetensors"] = dict(names[8:])
    weight_map = {name: file for file, part in parts.items() for name in part}
    return {
        "config.json": json.dumps(CONFIG).encode(),
        "model.safetensors.index.json": json.dumps({"weight_map": weight_map}).encode(),
        "model-00001-of-00002.safetensors": shard(parts["model-00001-of-00002.safetensors"]),
        "model-00002-of-00002.safetensors": shard(
            parts["model-00002-of-00002.safetensors"], padding=300_000
        ),
    }


class HubServer(ThreadingHTTPServer):
    """A hub with one repository, ``tiny/llama``."""

    def __init__(self, state: Hub) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.state = state
        state.url = f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    """Answers as the hub does: whole files, byte ranges, error codes in a header."""

    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        state, path, span = self.server.state, unquote(self.path), self.headers.get("Range")
        state.asked.append((path, span))
        content = state.files.get(path.removeprefix("/tiny/llama/resolve/main/"))
        if state.token is not None and self.headers.get("Authorization") != f"Bearer {state.token}":
            self.refuse(401, "GatedRepo")
        elif not path.startswith("/tiny/llama/resolve/"):
            self.refuse(404, "RepoNotFound")
        elif content is None:
            self.refuse(404, "EntryNotFound")
        else:
            self.send(content, span, body=body)

    def send(self, content: bytes, span: str | None, *, body: bool) -> None:
        part = content
        if span is not None:
            first, _, last = span.removeprefix("bytes=").partition("-")
            part = content[int(first) : int(last) + 1]
        self.send_response(206 if span else 200)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("ETag", f'"{hash(content)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if body:
            self.wfile.write(part)

    def refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited name
        del format, args


@pytest.fixture
def server() -> Iterator[Hub]:
    state = Hub(sharded())
    with HubServer(state) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield state
        http.shutdown()
        thread.join()


@pytest.fixture
def plain_http(server: Hub, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """The server, reached by the standard library and with empty caches."""
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setattr(hub, "find_spec", lambda _: None)
    return server


@pytest.fixture(autouse=True)
def empty_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("MODELSCOPE_CACHE", str(tmp_path / "modelscope"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)


def test_reads_configuration_and_headers_by_range(plain_http: Hub) -> None:
    model = load_model("hf:tiny/llama")
    assert model.weights_basis is Basis.EXACT
    assert model.weights_bytes == 2 * model.params_total
    assert model.notes == ()
    asked = [span for path, span in plain_http.asked if path.endswith("of-00002.safetensors")]
    assert None not in asked
    assert asked.count("bytes=0-131071") == 2


def test_a_long_header_takes_a_second_range(server: Hub) -> None:
    client = HttpClient(server.url, None)
    reference = hub.parse_reference("hf:tiny/llama")
    name = "model-00002-of-00002.safetensors"
    assert len(client.header(reference, name)) == len(tensors()) - 8
    end = len(server.files[name]) - 1
    assert [span for _, span in server.asked] == ["bytes=0-131071", f"bytes=131072-{end}"]


def test_sends_the_token_it_is_given(plain_http: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_http.token = "secret"  # noqa: S105 - of the server above
    with pytest.raises(BadInput) as caught:
        load_model("hf:tiny/llama")
    assert str(caught.value) == (
        "The hub shows no model 'tiny/llama' without permission: the name is wrong, or it is "
        "private or gated; accept its terms there and set HF_TOKEN."
    )
    monkeypatch.setenv("HF_TOKEN", "secret")
    assert load_model("hf:tiny/llama").weights_basis is Basis.EXACT


def test_a_model_the_hub_does_not_have_is_refused(plain_http: Hub) -> None:
    del plain_http
    with pytest.raises(BadInput) as caught:
        load_model("hf:tiny/other")
    assert str(caught.value) == (
        "The hub has no model 'tiny/other'; check the name and the revision."
    )


def test_a_configuration_alone_gives_derived_figures(plain_http: Hub) -> None:
    plain_http.files = {"config.json": plain_http.files["config.json"]}
    assert load_model("hf:tiny/llama").weights_basis is Basis.DERIVED


def test_a_header_that_lies_is_refused(plain_http: Hub) -> None:
    plain_http.files["model-00001-of-00002.safetensors"] = struct.pack("<Q", 10**6) + b"{}"
    with pytest.raises(BadInput) as caught:
        load_model("hf:tiny/llama")
    assert str(caught.value) == (
        "hf:tiny/llama, model-00001-of-00002.safetensors says its header is 1000000 bytes long, "
        "but the file ends before; the upload is damaged."
    )


def test_no_answer_is_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(hub, "find_spec", lambda _: None)
    with pytest.raises(CannotKnow) as caught:
        load_model("hf:tiny/llama")
    assert str(caught.value).startswith("http://127.0.0.1:9 cannot be reached for tiny/llama (")


@pytest.mark.parametrize("text", ["hf:llama", "hf:a/b/c", "hf:../b", "hf:a/b@", "hf:a/b?x"])
def test_what_is_no_reference_is_refused(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_model(text)
    assert str(caught.value) == (
        f"{text!r} is not a hub reference; write hf:org/name or hf:org/name@revision."
    )


def in_own_process(code: str, **environment: str) -> str:
    """What a fresh interpreter prints; huggingface_hub reads its settings once, when imported."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


SHOW = """
from vramledger.errors import VramError
from vramledger.model.load import load_model
try:
    model = load_model("hf:tiny/llama")
    print(model.weights_basis, model.weights_bytes, *model.notes)
except VramError as error:
    print(type(error).__name__, error)
"""


def test_huggingface_hub_reads_the_same_and_leaves_a_cache(server: Hub, tmp_path: Path) -> None:
    expected = 2 * sum(shape[0] * (shape[1] if len(shape) > 1 else 1)
                       for shape in tensors().values())  # fmt: skip
    settings = {"HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path / "hf")}
    assert in_own_process(SHOW, **settings) == f"exact {expected}\n"
    asked = len(server.asked)
    offline = in_own_process(SHOW, HF_HUB_OFFLINE="1", **settings)
    assert offline.startswith(f"derived {expected} ")
    assert offline.endswith("as HF_HUB_OFFLINE is set.\n")
    assert len(server.asked) == asked


def test_huggingface_hub_refuses_what_the_hub_does_not_have(server: Hub, tmp_path: Path) -> None:
    settings = {"HF_ENDPOINT": server.url, "HF_HOME": str(tmp_path / "hf")}
    answer = in_own_process(SHOW.replace("tiny/llama", "tiny/other"), **settings)
    assert answer == (
        "BadInput The hub shows no model 'tiny/other' without permission: the name is wrong, or it "
        "is private or gated; accept its terms there and set HF_TOKEN.\n"
    )


def test_no_hub_is_one_sentence_in_seconds_and_nothing_on_stderr(tmp_path: Path) -> None:
    settings = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "hf")}
    command = [sys.executable, "-m", "vramledger", "inspect", "hf:tiny/llama"]
    started = time.monotonic()
    result = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    assert time.monotonic() - started < 15
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr == (
        "vram: http://127.0.0.1:9 cannot be reached for tiny/llama ([Errno 111] Connection refused); "
        "give a directory with config.json, or a catalogue id.\n"
    )


def test_offline_without_a_cache_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(CannotKnow) as caught:
        load_model("hf:tiny/llama")
    assert str(caught.value) == (
        "HF_HUB_OFFLINE is set and tiny/llama is in no local cache; unset it, or give a directory "
        "with config.json."
    )


def test_a_modelscope_cache_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "modelscope" / "hub" / "models" / "tiny" / "llama-1___5"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    assert load_model("tiny/llama-1.5").notes == (
        f"Read from {folder}, as the catalogue does not have it.",
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert load_model("hf:tiny/llama-1.5").notes == (
        f"Read from {folder}, as HF_HUB_OFFLINE is set.",
    )
