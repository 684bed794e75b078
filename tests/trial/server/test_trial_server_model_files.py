"""What a model's files tell of a server on this machine."""

import hashlib
import json
from pathlib import Path

import pytest

from vramledger.trial.server.model_files import is_here, model_files

HERE = "http://127.0.0.1:8000"
REVISION = "0123456789abcdef0123456789abcdef01234567"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_one_file_has_its_own_hash_and_several_have_that_of_their_list(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"one")
    assert model_files(HERE, [None, str(tmp_path)]).weights_sha256 == sha256(b"one")
    (tmp_path / "b.safetensors").write_bytes(b"two")
    (tmp_path / "old.bin").write_bytes(b"not loaded where there are safetensors")
    listed = f"{sha256(b'one')}  a.safetensors\n{sha256(b'two')}  b.safetensors\n"
    assert model_files(HERE, [str(tmp_path)]).weights_sha256 == sha256(listed.encode())
    gguf = tmp_path / "m.gguf"
    gguf.write_bytes(b"three")
    found = model_files(HERE, [str(gguf)])
    assert (found.weights_sha256, found.where) == (sha256(b"three"), str(gguf))


def test_the_hubs_cache_tells_revision_and_hash_by_its_names(tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / REVISION
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    name = "ab" * 32
    (blobs / name).write_bytes(b"its hash is not computed again")
    (snapshot / "model.safetensors").symlink_to(blobs / name)
    found = model_files(HERE, [str(snapshot)])
    assert (found.revision, found.weights_sha256) == (REVISION, name)


def test_the_template_is_that_of_its_own_file_else_of_the_tokenizer(tmp_path: Path) -> None:
    configuration = tmp_path / "tokenizer_config.json"
    configuration.write_text(json.dumps({"chat_template": "{{ a }}"}))
    assert model_files(HERE, [str(tmp_path)]).chat_template == "{{ a }}"
    several = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]
    configuration.write_text(json.dumps({"chat_template": several}))
    assert model_files(HERE, [str(tmp_path)]).chat_template == "d"
    (tmp_path / "chat_template.jinja").write_text("{{ b }}")
    assert model_files(HERE, [str(tmp_path)]).chat_template == "{{ b }}"
    (tmp_path / "chat_template.jinja").unlink()
    configuration.write_text("[[[")
    assert model_files(HERE, [str(tmp_path)]).chat_template is None


def test_what_is_not_seen_is_said(tmp_path: Path) -> None:
    assert model_files(HERE, ["org/name"]).weights_unseen == (
        "the server names no file of this machine"
    )
    assert model_files(HERE, [str(tmp_path)]).weights_unseen == f"no weights lie at {tmp_path}"
    away = model_files("http://192.0.2.7:8000", [str(tmp_path)])
    assert (away.where, away.weights_unseen) == (None, "the server runs on another machine")


@pytest.mark.parametrize(
    ("address", "here"),
    [
        (HERE, True),
        ("http://localhost", True),
        ("http://[::1]:8000", True),
        ("http://192.0.2.7", False),
        ("http://no.such.name.invalid", False),
    ],
)
def test_only_addresses_of_this_machine_are_here(address: str, *, here: bool) -> None:
    assert is_here(address) is here
