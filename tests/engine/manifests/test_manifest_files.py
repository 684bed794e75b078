"""Files that start engines: compose, Kubernetes, Helm values, units, settings."""

from pathlib import Path

import pytest

from vramledger.engine.launch import Launch
from vramledger.engine.manifests.document import load_documents
from vramledger.engine.read import read_launch
from vramledger.errors import BadInput

COMPOSE = """\
x-common: &common
  runtime: nvidia
  environment:
    - HF_TOKEN=${HF_TOKEN}
    - VLLM_USE_V1=1
services:
  vllm:
    <<: *common
    image: vllm/vllm-openai:v0.9.2
    command: --model m --tensor-parallel-size ${TP:-2} --served-model-name "my model"
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 2}]}}}
  web:
    image: open-webui/open-webui:main
"""
EMBED = """\
  embed:
    image: vllm/vllm-openai:latest
    command: ["--model", "e", "--max-model-len", "${LEN}"]
"""
POD = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: mistral}
spec:
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.8.5
        command: ["/bin/sh", "-c"]
        args: ["vllm serve m --max-model-len $LEN --port $PORT"]
        env:
        - {name: LEN, value: "4096"}
        - {name: PORT, valueFrom: {fieldRef: {fieldPath: x}}}
        resources: {limits: {nvidia.com/gpu: "1"}}
"""
WORKERS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: big}
spec:
  leaderWorkerTemplate:
    leaderTemplate:
      spec:
        containers:
        - name: leader
          image: vllm/vllm-openai:v0.11.0
          command: [sh, -c, "ray start --head; vllm serve m -tp 8 -pp $(STAGES)"]
          env: [{name: STAGES, value: "2"}]
    workerTemplate:
      spec:
        containers:
        - {name: worker, image: "vllm/vllm-openai:v0.11.0", command: [sh, -c, "ray start"]}
"""
STACK = """\
servingEngineSpec:
  modelSpec:
  - name: llama3
    repository: vllm/vllm-openai
    tag: v0.10.0
    modelURL: m
    requestGPU: 2
    vllmConfig:
      v0: 1
      enableChunkedPrefill: false
      maxModelLen: 16384
      tensorParallelSize: 2
      extraArgs: ["--max-num-seqs", "32"]
    lmcacheConfig: {enabled: true}
"""
CHART = """\
image: {repository: vllm/vllm-openai, tag: v0.19.0}
args: [--model, m, --max-num-seqs, "32"]
"""
UNIT = """\
[Service]
Environment="VLLM_ATTENTION_BACKEND=FLASHINFER" CUDA_VISIBLE_DEVICES=0,1
Environment=MODEL=m
ExecStartPre=/bin/true
ExecStart=/usr/local/bin/vllm serve ${MODEL} \\
    # the card is shared
    --gpu-memory-utilization 0.85 \\
    --served-model-name %i
"""
QUADLET = """\
[Container]
Image=docker.io/vllm/vllm-openai:v0.11.0
Exec=--model m --max-model-len 8192
Environment=VLLM_LOGGING_LEVEL=DEBUG
"""
SETTINGS = """\
model: m
tensor_parallel_size: 2
served-model-name: [a, b]
enable-prefix-caching: false
compilation-config: {cudagraph_mode: PIECEWISE}
"""


def read(folder: Path, name: str, text: str, part: str = "") -> Launch:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_launch(f"{path}#{part}" if part else str(path))


def given(launch: Launch) -> dict[str, str | None]:
    return {flag.name: flag.value for flag in launch.flags}


def test_a_compose_service_is_picked_by_its_image(tmp_path: Path) -> None:
    launch = read(tmp_path, "compose.yml", COMPOSE)
    assert (launch.model, launch.version, launch.gpus) == ("m", "v0.9.2", 2)
    assert given(launch)["tensor-parallel-size"] == "2"
    assert given(launch)["served-model-name"] == "my model"
    assert launch.environment == {"VLLM_USE_V1": "1"}
    assert launch.where == f"{tmp_path / 'compose.yml'}, service vllm"


def test_several_services_ask_which_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, "compose.yml", COMPOSE + EMBED)
    path = tmp_path / "compose.yml"
    assert str(refused.value) == (
        f"{path} starts 2 engines (vllm, embed); name one as {path}#vllm."
    )
    launch = read(tmp_path, "compose.yml", COMPOSE + EMBED, "embed")
    assert launch.model == "e"
    assert launch.flags[-1].unknown == ("${LEN}",)
    with pytest.raises(BadInput, match="has no engine named 'x'; it has vllm, embed"):
        read(tmp_path, "compose.yml", COMPOSE + EMBED, "x")


def test_a_pods_script_sees_its_environment(tmp_path: Path) -> None:
    launch = read(tmp_path, "k8s.yaml", POD)
    assert (launch.model, launch.version, launch.gpus) == ("m", "v0.8.5", 1)
    assert given(launch)["max-model-len"] == "4096"
    assert launch.where.endswith("k8s.yaml, container mistral/vllm")


def test_the_leader_of_a_worker_set_starts_the_engine(tmp_path: Path) -> None:
    launch = read(tmp_path, "lws.yaml", WORKERS)
    assert given(launch) == {"tensor-parallel-size": "8", "pipeline-parallel-size": "2"}


def test_production_stack_values_become_its_flags(tmp_path: Path) -> None:
    launch = read(tmp_path, "values.yaml", STACK)
    assert (launch.model, launch.version, launch.gpus) == ("m", "v0.10.0", 2)
    assert launch.environment == {"VLLM_USE_V1": "0"}
    assert given(launch) == {
        "enable-chunked-prefill": "false",
        "enable-prefix-caching": "false",
        "max-model-len": "16384",
        "tensor-parallel-size": "2",
        "max-num-seqs": "32",
        "kv-transfer-config": '{"kv_connector": "LMCacheConnector", "kv_role": "kv_both"}',
    }
    assert launch.notes == (
        "The chart turns prefix caching off unless vllmConfig.enablePrefixCaching is true.",
    )


def test_a_plain_chart_gives_image_and_arguments(tmp_path: Path) -> None:
    launch = read(tmp_path, "values.yaml", CHART)
    assert (launch.model, launch.version) == ("m", "v0.19.0")
    assert given(launch)["max-num-seqs"] == "32"


def test_a_unit_gives_its_environment_and_unknown_specifiers(tmp_path: Path) -> None:
    launch = read(tmp_path, "vllm.service", UNIT)
    assert launch.model == "m"
    assert given(launch)["gpu-memory-utilization"] == "0.85"
    assert launch.environment["VLLM_ATTENTION_BACKEND"] == "FLASHINFER"
    assert launch.gpus == 2
    assert launch.flags[-1].unknown == ("%i",)


def test_a_podman_unit_is_read(tmp_path: Path) -> None:
    launch = read(tmp_path, "vllm.container", QUADLET)
    assert (launch.model, launch.version) == ("m", "v0.11.0")
    assert given(launch)["max-model-len"] == "8192"


def test_a_settings_file_stands_alone_or_behind_a_command(tmp_path: Path) -> None:
    launch = read(tmp_path, "serve.yaml", SETTINGS)
    assert launch.model == "m"
    assert given(launch)["served-model-name"] == "a b"
    assert given(launch)["enable-prefix-caching"] == "false"
    assert given(launch)["compilation-config"] == '{"cudagraph_mode": "PIECEWISE"}'
    script = "vllm serve other --config serve.yaml -tp 4"
    launch = read(tmp_path, "run.sh", script)
    assert launch.model == "other"
    assert [f.value for f in launch.flags if f.name == "tensor-parallel-size"] == ["2", "4"]


def test_a_missing_settings_file_is_said(tmp_path: Path) -> None:
    launch = read(tmp_path, "run.sh", "vllm serve m --config gone.yaml")
    assert launch.notes == ("The settings in gone.yaml are not known: it is not here.",)


BROKEN = {
    "services:\n  a: [1, 2\n": (
        "{path} line 3 is not YAML: expected ',' or ']', but got '<stream end>'; mend that line."
    ),
    "services:\n  a: !!python/object:os.system {}\n": (
        "{path} line 2 has the tag '!!python/object:os.system'; tags are not read, write a plain "
        "value."
    ),
    "kind: Pod\nspec:\n  {{- if .Values.x }}\n  a: b\n": (
        "{path} line 3 holds template markers ({{ ... }}); render it first (for a chart: helm "
        "template) and give the result."
    ),
    "services: 3\n": "{path} line 1, services must be a mapping of keys to values.",
    "services:\n  a:\n    image: [x]\n": (
        "{path} line 3, services.a.image must be a single value."
    ),
    "a: &a [*a]\nservices: {x: *a}\n": "{path} line 1 is nested more than 40 levels deep.",
    "services:\n  ? [a]\n  : b\n": "{path} line 2 has a key that is not a word; name it plainly.",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_files_are_refused_with_their_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, "x.yaml", text)
    assert str(refused.value) == BROKEN[text].replace("{path}", str(tmp_path / "x.yaml"))


def test_an_anchor_used_twice_is_read_quietly(tmp_path: Path) -> None:
    text = "x: &a 1\ny: &a 2\n" + CHART
    assert read(tmp_path, "values.yaml", text).model == "m"


def test_own_keys_win_over_merged_ones_and_earlier_merged_ones_over_later() -> None:
    (document,) = load_documents(
        "a: &a {x: 1, y: 1}\nb: &b {x: 2, y: 2, z: 2}\n"
        "both: {x: 0, <<: [*a, *b]}\none: {<<: *b, z: 3}\nquoted: {'<<': 4}\n",
        "x.yaml",
    )
    assert document.plain()["both"] == {"x": 0, "y": 1, "z": 2}
    assert document.plain()["one"] == {"x": 2, "y": 2, "z": 3}
    assert document.plain()["quoted"] == {"<<": 4}
    found = document.get("both", "x")
    assert found is not None
    assert found.text() == "0"


def test_a_bomb_of_aliases_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(BadInput, match="holds more than 50,000 values, aliases written out"):
        read(tmp_path, "x.yaml", "\n".join([*lines, "services: {}"]))


def test_a_manifest_without_an_engine_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="starts no engine that is known"):
        read(tmp_path, "x.yaml", "services: {web: {image: nginx}}\n")


def _group_of(size: int, tp: int, pp: int) -> str:
    return f"""apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: large}}
spec:
  leaderWorkerTemplate:
    size: {size}
    leaderTemplate:
      spec:
        containers:
        - name: leader
          image: vllm/vllm-openai:v0.19.0
          command: ["vllm", "serve", "m", "--tensor-parallel-size", "{tp}",
                    "--pipeline-parallel-size", "{pp}"]
          resources: {{limits: {{nvidia.com/gpu: "8"}}}}
    workerTemplate:
      spec:
        containers:
        - name: worker
          image: vllm/vllm-openai:v0.19.0
          command: ["sleep", "infinity"]
          resources: {{limits: {{nvidia.com/gpu: "8"}}}}
"""


def test_a_group_of_pods_is_granted_the_gpus_of_all(tmp_path: Path) -> None:
    path = tmp_path / "group.yaml"
    path.write_text(_group_of(2, 8, 2))
    assert read_launch(str(path)).gpus == 16
    path.write_text(_group_of(1, 8, 2))
    assert read_launch(str(path)).gpus == 8


STATEFUL = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: engine
        image: vllm/vllm-openai:v0.19.0
        args: ["--model", "m"]
        resources: {requests: {nvidia.com/gpu: 4}}
"""
RAY = """apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: r}
spec:
  headGroupSpec:
    template:
      spec:
        containers:
        - name: head
          image: vllm/vllm-openai:v0.19.0
          command: ["vllm", "serve", "m", "-pp", "3", "-tp", "4"]
          resources: {limits: {nvidia.com/gpu: 4}}
  workerGroupSpecs:
  - replicas: 2
    template:
      spec:
        containers:
        - name: worker
          image: vllm/vllm-openai:v0.19.0
          command: ["ray", "start"]
          resources: {limits: {nvidia.com/gpu: 4}}
"""


@pytest.mark.parametrize("text", [STATEFUL, RAY])
def test_pods_of_sets_and_of_ray_clusters_are_counted_together(text: str, tmp_path: Path) -> None:
    path = tmp_path / "pods.yaml"
    path.write_text(text)
    assert read_launch(str(path)).gpus == 12
