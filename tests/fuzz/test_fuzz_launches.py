"""Hostile launch commands, manifests and flag values: a deployment, or one sentence."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deployments import H100, full, model_of
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.flags import flag_table
from vramledger.engine.vllm.lint import lint
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import VramError

pytestmark = pytest.mark.fuzz
long_run = settings(
    max_examples=20_000, deadline=5_000, suppress_health_check=[HealthCheck.too_slow]
)
MODEL = model_of(full(8, 8, 128))
VERSIONS = st.sampled_from(
    [None, "nightly", "0.4.2", "0.6.6", "0.8.5", "0.11.0", "0.19.0", "0.33.0"]
)
VALUES = [
    "0", "1", "-1", "4", "32k", "32K", "1e400", "NaN", "inf", "9" * 30, "auto", "true", "x", "",
    "'{\"a\": 1}'", "'{\"method\": \"mtp\", \"num_speculative_tokens\": 2}'", "{", "'[1, 2]'",
    "image=2", "[ngram]", "fp8", "bfloat16", "$X", "${X:-2}", "'[1, \"a\"]'", "'{\"image\": -1}'",
    "'{\"kv_connector\": \"MultiConnector\", \"kv_connector_extra_config\": {\"connectors\": 5}}'",
    "'{\"rope_scaling\": {\"factor\": 1e308, \"original_max_position_embeddings\": 9}}'",
]  # fmt: skip
FLAGS = [f"--{name}" for name in flag_table((0, 33, 0)).specs]
WORDS = st.sampled_from(
    [*FLAGS, "-tp", "-pp", "-dp", "-O3", "-O", "-cc", "--", "--no-enable-prefix-caching"]
)
SHELL = st.sampled_from(
    ["|", "&&", ";", "\n", "\\\n", "#", ">", "<", "'", '"', "`", "$(", "\\", "=", "A=b", "sudo",
     "env", "bash", "-c", "docker", "run", "-e", "vllm/vllm-openai:v0.11.0", "python", "-m",
     "\u2013", "\u201c", "\x00", "\u2028"]
)  # fmt: skip
COMPOSE = """\
services:
  a: &x
    image: vllm/vllm-openai:v0.9.2
    command: --model m -tp ${TP:-2}
    environment: {A: b}
  b:
    <<: *x
"""
POD = """\
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: v
    image: i
    command: [sh, -c]
    args: ['vllm serve m --max-model-len $L']
    env: [{name: L, value: '4096'}]
"""
STACK = """\
servingEngineSpec:
  modelSpec:
  - {name: a, repository: r, tag: v0.9.0, modelURL: m, vllmConfig: {maxModelLen: 4096}}
"""
UNIT = """\
[Service]
Environment=A=b
ExecStart=/usr/bin/vllm serve m \\
  -tp 2
"""
FILES = [COMPOSE, POD, STACK, UNIT, "model: m\ntensor-parallel-size: 2\n"]
MARKS = st.sampled_from(
    [":", "-", "[", "]", "{", "}", "&a", "*a", "!!x ", "|", ">", "'", '"', "#", "\n", "  ", "\t",
     "%", "@", "<<: *x\n", "command:", "image:", "containers:", "[" * 50, "\u0085", "\ufeff"]
)  # fmt: skip


def ends_well(text: str, version: str | None) -> bool:
    """Whether reading and resolving ends in a deployment or in one finished sentence."""
    try:
        launch = read_launch(text, version=version)
        if launch.engine == "vllm":
            lint(resolve(launch, MODEL, H100, version=version))
    except VramError as error:
        said = str(error)
        return said.endswith(".") and "\n" not in said
    return True


@long_run
@given(st.lists(WORDS | st.sampled_from(VALUES) | st.text(max_size=6), max_size=8), VERSIONS)
def test_any_arguments(words: list[str], version: str | None) -> None:
    assert ends_well("vllm serve m " + " ".join(words), version)


@long_run
@given(st.lists(WORDS | SHELL | st.sampled_from(["vllm", "serve", "m"]), max_size=12), VERSIONS)
def test_any_shell_text(words: list[str], version: str | None) -> None:
    assert ends_well(" ".join(words), version)


@long_run
@given(st.data(), VERSIONS)
def test_any_damaged_manifest(data: st.DataObject, version: str | None) -> None:
    text = data.draw(st.sampled_from(FILES))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(MARKS) + text[at + data.draw(st.integers(0, 4)) :]
    assert ends_well(text, version)
