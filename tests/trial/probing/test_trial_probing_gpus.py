"""The probe as people call it, on machines with GPUs that a stand-in shows, and on one without."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metrics_samples import VLLM, served
from nvml_stand_in import built_nvml
from vramledger.trial.probing.remarks import RULES

PLAN = """\
name: probe-me
model: Qwen/Qwen2.5-72B-Instruct
weights: [as-stored]
engine: {name: vllm, version: "0.33", args: {max-model-len: 32768}}
workload: {input_tokens: {p50: 600, max: 2000}, output_tokens: {p50: 300, max: 900}, concurrent: 8}
scenarios:
  daily: {kind: latency, contract: {success: 0.99}}
headroom: auto
gpus: [H100-80GB-SXM]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_nvml(tmp_path_factory.mktemp("nvml"))


def vram(
    library: Path | None, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    path = {} if library is None else {"LD_LIBRARY_PATH": str(library)}
    return subprocess.run(
        [sys.executable, "-m", "vramledger", "probe", *arguments],
        env={**os.environ, **path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def found(library: Path | None, *arguments: str, **environment: str) -> tuple[int, dict[str, Any]]:
    run = vram(library, *arguments, "--json", **environment)
    assert run.stdout, run.stderr
    return run.returncode, json.loads(run.stdout)


def ids(document: dict[str, Any]) -> list[str]:
    return [remark["id"] for remark in document["remarks"]]


def test_a_sound_machine_as_ordered_holds(library: Path) -> None:
    code, document = found(
        library, "--gpu", "H100-80GB-SXM", "--gpus", "2", FAKE_NVML_SENSORS="1", FAKE_NVML_COUNT="2"
    )
    assert code == 0
    assert document["schema"] == "vramledger.probe/1"
    gpus = document["gpus"]
    assert (gpus["driver"], gpus["cuda"]) == ("580.65.06", "13.0")
    one = gpus["gpus"][0]
    assert {name: one[name] for name in ("pcie_generation", "pcie_width", "nvlinks")} == {
        "pcie_generation": 1,
        "pcie_width": 16,
        "nvlinks": 18,
    }
    assert (one["reserved_bytes"], one["power_limit_w"]) == (551 << 20, 700)
    assert gpus["pairs"] == [
        {
            "first": "GPU-1",
            "second": "GPU-2",
            "common": "one NUMA node",
            "peer_access": True,
            "nvlink": True,
        }
    ]
    assert set(ids(document)) == {"P09"}
    assert "The speed of the disk: name a folder with --disk." in document["not_checked"]


def test_a_worn_machine_that_is_not_as_ordered_does_not_hold(library: Path) -> None:
    code, document = found(
        library, "--gpu", "A100-80GB-SXM", "--gpus", "4",
        FAKE_NVML_SENSORS="1", FAKE_NVML_COUNT="2", FAKE_NVML_WORN="1", FAKE_NVML_KEPT_MIB="3000",
    )  # fmt: skip
    assert code == 1
    wanted = ["P01", "P02", "P04", "P09", "P10", "P11", "P12", "P13", "P14", "P15"]
    assert sorted(set(ids(document))) == wanted
    severities = [remark["severity"] for remark in document["remarks"]]
    assert severities == sorted(severities)  # errors first
    said = {remark["id"]: remark["message"] for remark in document["remarks"]}
    assert said["P02"] == "There are 2 GPUs, and 4 were ordered; ask the provider for the others."
    assert said["P04"] == "Its memory has no spare rows left; ask for another GPU."
    assert said["P11"] == (
        "Its PCIe link has 8 lanes of 16; loading and host offload will be slower."
    )
    assert said["P15"] == (
        "1 of 1 pairs of GPUs cannot read each other's memory; tensor parallelism goes through the "
        "host there."
    )


def test_a_card_that_gives_less_than_such_cards_do_is_told(library: Path) -> None:
    code, document = found(library, "--gpu", "H100-80GB-SXM", FAKE_NVML_KEPT_MIB="3000")
    assert code == 1
    (less,) = (remark for remark in document["remarks"] if remark["id"] == "P03")
    assert less["gpu"] == "GPU-1"
    assert less["message"].startswith("It gives programs 76.72 GiB, and such a card gives 79.")


def test_memory_in_use_by_processes_that_are_not_seen_is_told(library: Path) -> None:
    _, document = found(library)
    (remark,) = document["remarks"]
    assert remark["message"] == (
        "1.00 GiB of it are in use by processes that cannot be seen from here; end them, or count "
        "them in."
    )


def test_a_machine_without_gpus_is_told_and_cannot_be_known() -> None:
    run = vram(None)
    assert run.returncode == 3
    assert "  The GPUs: The GPUs of this machine cannot be read: NVML says" in run.stdout
    code, document = found(None)
    assert (code, document["gpus"]) == (3, None)
    assert document["machine"]["processors"] >= 1


def test_links_that_are_asked_for_and_cannot_be_measured_are_told(library: Path) -> None:
    asked = "The speed of the links between GPUs, which --links asks for: "
    assert f"{asked}no GPU can be read here." in found(None, "--links")[1]["not_checked"]
    one = found(library, "--links", FAKE_NVML_SENSORS="1", FAKE_NVML_COUNT="1")[1]["not_checked"]
    assert f"{asked}there is one GPU, and so no link." in one
    two = found(library, FAKE_NVML_SENSORS="1", FAKE_NVML_COUNT="2")[1]["not_checked"]
    assert (
        "The speed of the links between GPUs: ask for it with --links, which runs all_reduce_perf."
        in two
    )
    assert (
        "The bandwidth from one GPU to another: nothing here measures it; p2pBandwidthLatencyTest of NVIDIA's "
        "cuda-samples, or nvbandwidth, does."
    ) in two


def test_a_server_that_is_not_as_planned_is_told(library: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    models = json.dumps(
        {"data": [{"id": "Qwen2.5-72B-Instruct", "owned_by": "vllm", "max_model_len": 8192}]}
    )
    pages = {"/v1/models": models, "/metrics": VLLM, "/version": '{"version": "0.33.0"}'}
    with served(pages) as server:
        code, document = found(
            library, "--url", server.url, "--plan", str(plan), "--key-env", "PROBE_KEY",
            PROBE_KEY="sk-planted",
        )  # fmt: skip
        assert {key for _, _, key in server.asked} == {"Bearer sk-planted"}
    assert code == 1
    said = [remark["message"] for remark in document["remarks"] if remark["id"] == "P07"]
    assert said == [
        "--max-model-len was asked for as 32768, and in effect it is 8192 (arguments.max-model-len)."
    ]
    assert document["server"]["kv_tokens"] == 134912
    assert "sk-planted" not in json.dumps(document)


def test_the_text_says_the_same_for_people(library: Path) -> None:
    with served(
        {"/v1/models": json.dumps({"data": [{"id": "demo", "owned_by": "vllm"}]})}
    ) as server:
        run = vram(library, "--url", server.url, FAKE_NVML_SENSORS="1", FAKE_NVML_COUNT="2")
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert "GPUs (driver 580.65.06, CUDA up to 13.0)" in lines
    assert "  GPU-1 and GPU-2: one NUMA node, peer access, NVLink" in lines
    assert "  engine            vllm" in lines
    assert "  Of the server: the chat template." in lines


def test_wrong_options_are_refused() -> None:
    run = vram(None, "--gpus", "0")
    assert (run.returncode, run.stderr) == (
        2,
        "vram: --gpus 0 is no number of GPUs; give 1 or more.\n",
    )
    run = vram(None, "--key-env", "NO_SUCH_KEY")
    assert run.returncode == 2
    assert run.stderr == "vram: $NO_SUCH_KEY holds no API key; put the key there, on one line.\n"


def test_every_rule_has_an_id_of_its_own() -> None:
    assert [rule.id for rule in RULES] == [f"P{number:02}" for number in range(1, len(RULES) + 1)]
