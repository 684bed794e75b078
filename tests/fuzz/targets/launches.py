"""Launch commands, scripts and manifests."""

from pathlib import Path
from random import Random

from deployments import H100, full, model_of
from fuzz.driver import Target
from fuzz.mutation import damaged_text
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.flags import flag_table
from vramledger.engine.vllm.lint import lint
from vramledger.engine.vllm.resolve import resolve

MODEL = model_of(full(8, 8, 128))
VERSIONS = (None, None, "nightly", "0.4.2", "0.6.6", "0.8.5", "0.11.0", "0.19.0", "0.33.0", "x")
VALUES = (
    "0", "1", "-1", "2", "3", "4", "8", "32k", "32K", "4096", "1e400", "NaN", "inf", "9" * 30, "auto",
    "true", "x", "0.5", "1.0", "", "'{\"a\": 1}'",
    "'{\"method\": \"mtp\", \"num_speculative_tokens\": 2}'", "{", "'[1, 2]'", "image=2", "[ngram]",
    "fp8", "bfloat16", "$X", "${X:-2}", "'[1, \"a\"]'", "'{\"image\": -1}'", "\x1b[31m", "\ud800",
    "'{\"kv_connector\": \"MultiConnector\", \"kv_connector_extra_config\": {\"connectors\": 5}}'",
    "'{\"rope_scaling\": {\"factor\": 1e308, \"original_max_position_embeddings\": 9}}'",
    "'{\"mode\": 3, \"cudagraph_capture_sizes\": [1, -2, 1e9]}'", "'" + "[" * 3_000 + "'", "../../x",
)  # fmt: skip
MEMORY = (
    "--max-model-len", "--max-num-seqs", "--max-num-batched-tokens", "--gpu-memory-utilization",
    "--kv-cache-dtype", "--kv-cache-memory-bytes", "--block-size", "-tp", "-pp", "-dp",
    "--enable-expert-parallel", "--quantization", "--dtype", "--speculative-config", "--enable-lora",
    "--max-loras", "--max-lora-rank", "--swap-space", "--cpu-offload-gb", "--enforce-eager",
    "--limit-mm-per-prompt", "--num-gpu-blocks-override", "--no-enable-prefix-caching",
    "--compilation-config", "--hf-overrides", "--decode-context-parallel-size",
)  # fmt: skip
NUMBERS = MEMORY[:4] + MEMORY[5:10]
AMOUNTS = (
    "0",
    "1",
    "2",
    "4",
    "8",
    "16",
    "0.5",
    "0.9",
    "1.0",
    "4096",
    "32k",
    "131072",
    "auto",
    "-1",
)
FLAGS = tuple(f"--{name}" for name in flag_table((0, 33, 0)).specs)
OTHER_WORDS = ("-O3", "-O", "-cc", "--", "---", "=", "--=", "--tp=2", "--no-", "-")
SHELL = (
    "|", "&&", ";", "\n", "\\\n", "#", ">", "<", "'", '"', "`", "$(", "\\", "=", "A=b", "sudo", "env",
    "bash", "-c", "docker", "run", "-e", "vllm/vllm-openai:v0.11.0", "python", "-m", "\u2013", "\u201c",
    "\x00", "\u2028", "vllm", "serve", "m", "sglang.launch_server", "llama-server", "ollama", "\r",
)  # fmt: skip
COMPOSE = """\
services:
  a: &x
    image: vllm/vllm-openai:v0.9.2
    command: --model m -tp ${TP:-2}
    environment: {A: b}
    deploy: {resources: {reservations: {devices: [{count: 2, capabilities: [gpu]}]}}}
  b:
    <<: *x
"""
POD = """\
kind: Deployment
metadata: {name: p}
spec:
  template:
    spec:
      containers:
      - name: v
        image: i
        command: [sh, -c]
        args: ['vllm serve m --max-model-len $L']
        env: [{name: L, value: '4096'}, {name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}]
        resources: {limits: {nvidia.com/gpu: 2}}
"""
STACK = """\
servingEngineSpec:
  modelSpec:
  - {name: a, repository: r, tag: v0.9.0, modelURL: m, vllmConfig: {maxModelLen: 4096}}
"""
UNIT = """\
[Service]
Environment=A=b "C=d e"
ExecStart=/usr/bin/vllm serve m \\
  -tp 2
"""
SETTINGS = "model: m\ntensor-parallel-size: 2\nkv-transfer-config: {kv_connector: X}\n"
SCRIPT = '#!/bin/bash\nexport M=m\nif true; then\n  exec vllm serve "$M" -tp $((1+1)) <<EOF\nx\nEOF\nfi\n'
FILES = {
    "compose.yaml": COMPOSE, "pod.yml": POD, "values.yaml": STACK, "vllm.service": UNIT,
    "settings.yaml": SETTINGS, "run.sh": SCRIPT,
}  # fmt: skip
MARKS = (
    ":", "-", "[", "]", "{", "}", "&a ", "*a", "*x", "!!x ", "!!python/object:os.system ", "|", ">",
    "'", '"', "#", "\n", "  ", "\t", "%", "@", "<<: *x\n", "command:", "image:", "containers:",
    "[" * 50, "{a: " * 70, "\u0085", "\ufeff", "---\n", "null", "~", "1e999", ".nan", "0x", "\x00",
    "&a [*a, *a]", "? ", "\ud800", "vllm serve x", "{{ .Values.x }}",
)  # fmt: skip

Command = tuple[str, str | None]
Written = tuple[str, str, str | None]


def make_arguments(random: Random, most: int = 8) -> str:
    words = []
    for _ in range(random.randint(0, random.randint(1, most))):
        pool = random.choice([*(NUMBERS,) * 6, MEMORY, FLAGS, OTHER_WORDS])
        flag = random.choice(pool)
        if pool is NUMBERS:
            words.append(f"{flag} {random.choice(AMOUNTS)}")
            continue
        joint = random.choice([" ", " ", "="])
        words.append(flag if random.randrange(4) == 0 else f"{flag}{joint}{random.choice(VALUES)}")
    return " ".join(words)


def make_command(random: Random) -> Command:
    version = random.choice(VERSIONS)
    if random.randrange(2):
        return f"vllm serve m {make_arguments(random)}", version
    words = [random.choice(SHELL + MEMORY + VALUES) for _ in range(random.randint(0, 14))]
    return " ".join(words), version


def read_command(asked: Command, _folder: Path) -> None:
    follow(asked[0], asked[1])


def follow(text_or_path: str, version: str | None) -> None:
    launch = read_launch(text_or_path, version=version)
    if launch.engine == "vllm":
        lint(resolve(launch, MODEL, H100, version=version))


def make_manifest(random: Random) -> Written:
    name = random.choice(list(FILES))
    text = damaged_text(FILES[name], random, MARKS)
    return random.choice([name, name, "x.json", "x.txt"]), text, random.choice(VERSIONS)


def read_manifest(asked: Written, folder: Path) -> None:
    name, text, version = asked
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    follow(str(path), version)


TARGETS = (
    Target("launch", 20_000, make_command, read_command),
    Target("manifest", 12_000, make_manifest, read_manifest),
)
