"""Bad files of every kind through the real command: one sentence, exit 2, nothing on stdout, soon."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from commands import CARD, ESC, LAUNCH, said, vram

SOUND: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 256,
    "max_position_embeddings": 64,
}  # fmt: skip
BOMB = "".join(
    f"{name}: &{name} [{', '.join([inner] * 9)}]\n"
    for name, inner in zip("abcdefg", ["x", *(f"*{n}" for n in "abcdef")], strict=True)
)
CONFIGS: dict[str, bytes] = {
    "empty": b"",
    "truncated": json.dumps(SOUND).encode()[:40],
    "binary": bytes(range(256)),
    "utf16": json.dumps(SOUND).encode("utf-16"),
    "latin1": b'{"x": "\xe9"}',
    "list": b"[1]",
    "nan": json.dumps({**SOUND, "hidden_size": float("nan")}).encode(),
    "infinity": json.dumps({**SOUND, "rms_norm_eps": 1, "vocab_size": float("inf")}).encode(),
    "negative": json.dumps({**SOUND, "hidden_size": -64}).encode(),
    "headless": json.dumps({**SOUND, "num_attention_heads": 0}).encode(),
    "absurd": json.dumps({**SOUND, "max_position_embeddings": 10**30}).encode(),
    "wrongtype": json.dumps({**SOUND, "hidden_size": "64"}).encode(),
    "deep": b"[" * 300_000,
    "twice": json.dumps(SOUND).encode()[:-1] + b', "hidden_size": 65}',
    "colours": json.dumps({**SOUND, "model_type": f"{ESC}[2Jx\n"}).encode(),
}
PLANS: dict[str, bytes] = {
    "empty": b"",
    "bomb": BOMB.encode(),
    "tag": b"name: !!python/object/apply:os.system [id]",
    "circle": b"a: &a [*a]",
    "deep": b"[" * 50_000,
    "twice": b"name: x\nname: y\n",
    "nan": b"name: x\nmodel: Qwen/Qwen3-8B\nworkload: {profile: chat, users: .nan}\n",
    "utf16": "name: x".encode("utf-16"),
    "latin1": b"name: \xe9",
    "zero": b"na\0me: x",
    "list": b"[1]",
    "two": b"a: 1\n---\nb: 2\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of bad file, side by side."""
    made = tmp_path_factory.mktemp("bad")
    for name, content in CONFIGS.items():
        (made / f"{name}.json").write_bytes(content)
    for name, content in PLANS.items():
        (made / f"{name}.yaml").write_bytes(content)
    for ending in ("json", "yaml", "safetensors", "gguf", "log"):
        os.mkfifo(made / f"pipe.{ending}")
        (made / f"loop.{ending}").symlink_to(f"back.{ending}")
        (made / f"back.{ending}").symlink_to(f"loop.{ending}")
        (made / f"folder.{ending}").mkdir()
        with (made / f"big.{ending}").open("wb") as sparse:
            sparse.truncate(2 << 30)
    (made / "pipes").mkdir()
    os.mkfifo(made / "pipes" / "config.json")
    (made / "lie.safetensors").write_bytes(b"\xff" * 7 + b"\x7f{}")
    (made / "short.safetensors").write_bytes(b"\x10" + bytes(7) + b"{}")
    (made / "empty.safetensors").write_bytes(b"")
    (made / "zip.gguf").write_bytes(b"PK\3\4" + bytes(30))
    (made / "many.gguf").write_bytes(b"GGUF\3\0\0\0" + b"\xff" * 8 + bytes(8))
    (made / "m-00001-of-00009.gguf").write_bytes(b"GGUF")
    (made / "x.safetensors.index.json").write_text('{"weight_map": {"a": "../x"}}')
    (made / f"{ESC}[31mred.yaml").write_bytes(b"[1]")
    (made / "noise.log").write_bytes(bytes(range(256)) * 4)
    return made


NOT_A_FILE = "is a pipe or a device, not {what}; save what it gives to a file and name that."
WHAT = {
    "inspect": "a configuration",
    "ledger": "a file that starts an engine",
    "baseline": "a ledger saved by vram ledger --json",
    "from-log": "a start-up log",
    "from-metrics": "a metrics page",
    "config": "a --config file",
    "plan": "a plan",
    "size": "a plan",
}


def asking(question: str, name: str) -> list[str]:
    """The command that reads that file for that purpose."""
    if question == "inspect":
        return ["inspect", name]
    if question == "ledger":
        return ["ledger", name, *CARD]
    if question == "config":
        return ["ledger", f"{LAUNCH} --config {name}", *CARD]
    if question == "plan":
        return ["plan", "check", name]
    if question == "size":
        return ["size", name]
    return ["ledger", LAUNCH, *CARD, f"--{question}", name]


@pytest.mark.parametrize("question", WHAT)
def test_a_pipe_is_never_waited_for(folder: Path, question: str) -> None:
    name = "pipe.yaml" if question != "inspect" else "pipe.json"
    assert (
        said(asking(question, name), folder) == f"{name} {NOT_A_FILE.format(what=WHAT[question])}"
    )


@pytest.mark.parametrize("question", [q for q in WHAT if q != "size"])
def test_an_endless_device_is_never_read(folder: Path, question: str) -> None:
    assert said(asking(question, "/dev/zero"), folder) == (
        f"/dev/zero {NOT_A_FILE.format(what=WHAT[question])}"
    )


@pytest.mark.parametrize("question", [q for q in WHAT if q != "inspect"])
def test_a_directory_is_not_a_file(folder: Path, question: str) -> None:
    assert said(asking(question, "folder.yaml"), folder) == (
        f"folder.yaml is a directory, not {WHAT[question]}; name the file itself."
    )


@pytest.mark.parametrize("question", WHAT)
def test_links_in_circles_are_named(folder: Path, question: str) -> None:
    name = "loop.yaml" if question != "inspect" else "loop.json"
    assert said(asking(question, name), folder) == (
        f"{name} cannot be read: Too many levels of symbolic links; mend the link."
    )


@pytest.mark.parametrize("question", WHAT)
def test_two_gigabytes_are_refused_unread(folder: Path, question: str) -> None:
    sentence = said(asking(question, "big.yaml"), folder)
    assert sentence.startswith("big.yaml has 2,147,483,648 bytes")


@pytest.mark.parametrize("question", ["baseline", "from-log", "from-metrics", "plan", "size"])
def test_a_missing_file_is_named(folder: Path, question: str) -> None:
    assert said(asking(question, "missing.yaml"), folder) == (
        "missing.yaml cannot be read: No such file or directory; check its path."
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("question", WHAT)
def test_a_file_without_permission_is_named(folder: Path, question: str) -> None:
    path = folder / "secret.yaml"
    path.touch(mode=0)
    assert said(asking(question, "./secret.yaml"), folder).endswith(
        "cannot be read: Permission denied; make it readable to you."
    )


ONE_TO = "must be a whole number from 1 to"
CONFIG_REFUSALS = {
    "empty": "empty.json is empty; fetch it again.",
    "truncated": "truncated.json is not valid JSON: Expecting ',' delimiter: "
    "line 1 column 41 (char 40).",
    "binary": "binary.json is not UTF-8 text (byte 128); save it as UTF-8.",
    "utf16": "utf16.json is not UTF-8 text (byte 0); save it as UTF-8.",
    "latin1": "latin1.json is not UTF-8 text (byte 7); save it as UTF-8.",
    "list": "list.json holds a JSON list; a configuration is an object.",
    "nan": f"nan.json: 'hidden_size' is nan; it {ONE_TO} 1099511627776.",
    "infinity": f"infinity.json: 'vocab_size' is inf; it {ONE_TO} 1099511627776.",
    "negative": f"negative.json: 'hidden_size' is -64; it {ONE_TO} 1099511627776.",
    "headless": f"headless.json: 'num_attention_heads' is 0; it {ONE_TO} 1099511627776.",
    "absurd": f"absurd.json: 'max_position_embeddings' is 1{'0' * 30}; it {ONE_TO} 1099511627776.",
    "wrongtype": f"wrongtype.json: 'hidden_size' is '64'; it {ONE_TO} 1099511627776.",
    "deep": "deep.json is nested too deeply to be a model configuration.",
    "twice": "twice.json gives 'hidden_size' twice, 64 and 65; keep one.",
    "colours": r"Unknown model_type '\x1b[2Jx\n' in colours.json, 'model_type'; nothing known comes "
    "near it.",
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_bad_configuration_is_one_sentence(folder: Path, name: str) -> None:
    assert said(["inspect", f"{name}.json"], folder) == CONFIG_REFUSALS[name]


WEIGHT_REFUSALS = {
    "lie.safetensors": "lie.safetensors says its header is 9223372036854775807 bytes long, where "
    "safetensors allows 2 to 100000000; it is no safetensors file or it is damaged.",
    "short.safetensors": "short.safetensors says its header is 16 bytes long, but the file has only "
    "10; it is truncated or no safetensors file, fetch it again.",
    "empty.safetensors": "empty.safetensors has 0 bytes, too few for a safetensors header; fetch it "
    "again.",
    "big.safetensors": "big.safetensors says its header is 0 bytes long, where safetensors allows 2 "
    "to 100000000; it is no safetensors file or it is damaged.",
    "big.gguf": "big.gguf does not begin with GGUF; it is no GGUF file.",
    "zip.gguf": "zip.gguf does not begin with GGUF; it is no GGUF file.",
    "many.gguf": "many.gguf says it has 18446744073709551615 tensors, where at most 1048576 make "
    "sense; the header is damaged.",
    "m-00001-of-00009.gguf": "m-00001-of-00009.gguf is one of 9 files, of which 8 are not beside it "
    "(m-00002-of-00009.gguf the first); fetch the whole set.",
    "x.safetensors.index.json": "x.safetensors.index.json: the tensor 'a' is placed in '../x', which "
    "is not the name of a file beside the index.",
    "pipe.gguf": f"pipe.gguf {NOT_A_FILE.format(what='a weight file')}",
    "pipe.safetensors": f"pipe.safetensors {NOT_A_FILE.format(what='a weight file')}",
    "pipes": f"pipes/config.json {NOT_A_FILE.format(what='a configuration')}",
    "folder.json": "folder.json holds no config.json and no safetensors or GGUF weights; give the "
    "directory of a checkpoint.",
}


@pytest.mark.parametrize("name", WEIGHT_REFUSALS)
def test_bad_weights_are_one_sentence(folder: Path, name: str) -> None:
    assert said(["inspect", name], folder) == WEIGHT_REFUSALS[name]


PLAN_REFUSALS = {
    "empty": "empty.yaml is empty; `vram plan new` writes a plan to start from.",
    "bomb": "bomb.yaml line 1 holds more than 50,000 values, aliases written out; files a person "
    "writes hold fewer.",
    "tag": "tag.yaml line 1 has the tag '!!python/object/apply:os.system'; tags are not read, write "
    "a plain value.",
    "circle": "circle.yaml line 1 is nested more than 40 levels deep.",
    "deep": "deep.yaml is nested deeper than any file a person writes.",
    "twice": "twice.yaml line 2 gives 'name' a second time; keep one of them.",
    "nan": "nan.yaml line 3: workload.users is nan; it must be a finite number.",
    "utf16": "utf16.yaml is UTF-16, not UTF-8 text (byte 0); save it as UTF-8.",
    "latin1": "latin1.yaml is not UTF-8 text (byte 6); save it as UTF-8.",
    "zero": "zero.yaml is not YAML: unacceptable character #x0000: special characters are not allowed "
    'in "<unicode string>", position 2; mend or replace it.',
    "list": "list.yaml is not a plan: it holds no keys at its top; `vram plan new` writes one to "
    "start from.",
    "two": "two.yaml holds 2 YAML documents; it should hold one.",
}


@pytest.mark.parametrize("name", PLANS)
def test_a_bad_plan_is_one_sentence(folder: Path, name: str) -> None:
    assert said(["size", f"{name}.yaml"], folder) == PLAN_REFUSALS[name]


def test_plan_check_lists_every_problem(folder: Path) -> None:
    done = vram(["plan", "check", "nan.yaml"], folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"nan.yaml has 1 problem:\n{PLAN_REFUSALS['nan']}\n"


MANIFEST_REFUSALS = {
    **{name: PLAN_REFUSALS[name] for name in ("bomb", "tag", "circle", "deep", "utf16", "latin1")},
    "empty": "empty.yaml is empty; name the file that starts the engine.",
}


@pytest.mark.parametrize("name", MANIFEST_REFUSALS)
def test_a_bad_manifest_is_one_sentence(folder: Path, name: str) -> None:
    assert said(["ledger", f"{name}.yaml", *CARD], folder) == MANIFEST_REFUSALS[name]
