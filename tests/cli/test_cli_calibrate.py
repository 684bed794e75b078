"""`vram calibrate` and what takes its file, as commands."""

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from commands import vram_here
from rehearse_server import rehearsal
from stored_workloads import request, stored

LAUNCH = (
    "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 4096 --max-num-batched-tokens 2048"
)
GPU = "H100-80GB-SXM"
HERE = Path(__file__).parent
LOAD = ("--input-tokens", "500", "--output-tokens", "100", "--concurrency", "8")


def vram(*arguments: str) -> CompletedProcess[str]:
    return vram_here(list(arguments), HERE)


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A calibration on a simulated run, in the file cal.json beside it."""
    home = tmp_path_factory.mktemp("calibrated")
    rows = (
        request(row, arrival_s=row * 0.2, input_tokens=50 + 37 * (row % 40), output_tokens=20 + row)
        for row in range(80)
    )
    workload = stored(home / "w.parquet", rows)
    options = ("--gpu", GPU, "--workload", str(workload), "-o", str(home / "run"))
    assert vram("simulate", LAUNCH, *options).returncode == 0
    done = vram("calibrate", str(home / "run"), "-o", str(home / "cal.json"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((home / "cal.json").read_text())
    return home / "cal.json"


def _document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_simulated_run_gives_back_the_shipped_terms_and_is_reproduced(calibrated: Path) -> None:
    found = _document(calibrated)
    assert found["schema"] == "vramledger.calibration/1"
    assert (found["engine"], found["gpu"], found["origin"]) == ("vllm", GPU, "simulated")
    assert abs(found["reproduces"]["ttft_err"]) < 0.02
    assert abs(found["reproduces"]["tpot_err"]) < 0.02
    assert found["reproduces"]["kv_err"] < 0.02
    for term in found["terms"].values():
        assert term["low"] <= term["value"] <= term["high"]
        assert term["basis"] == "assumed"  # a simulated run says nothing of a card
    factors = found["factors"].values()
    assert sum(each["low"] <= 1 <= each["high"] for each in factors) >= 0.85 * len(factors)
    assert found["notes"] == [
        "run is a simulated run: this calibrates the simulator on itself and is no evidence of any card."
    ]


def test_a_calibration_of_a_simulated_run_is_no_evidence(calibrated: Path) -> None:
    done = vram("predict", LAUNCH, "--gpu", GPU, *LOAD, "--calibration", str(calibrated), "--json")
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert not found["evidence"]
    assert "Prediction only, no evidence: the calibration is of a simulated run." in found["notes"]


def _measured(calibrated: Path, folder: Path, **setting: str) -> Path:
    """The same file as if the run had been measured."""
    found = _document(calibrated) | {"origin": "measured"}
    found["setting"] |= setting
    path = folder / "measured.json"
    path.write_text(json.dumps(found))
    return path


def test_a_measured_host_has_a_narrow_band_at_home_and_a_wide_one_elsewhere(
    calibrated: Path, tmp_path: Path
) -> None:
    file = str(_measured(calibrated, tmp_path))
    bands = []
    for gpu in (GPU, "H200-141GB-SXM", "L40S"):
        version = ("--engine-version", "0.33")
        done = vram(
            "predict", LAUNCH, "--gpu", gpu, *LOAD, *version, "--calibration", file, "--json"
        )
        assert done.returncode == 0, done.stderr
        tpot = json.loads(done.stdout)["tpot_s"]
        assert (tpot["basis"] == "calibrated") is (gpu == GPU)
        bands.append(tpot["high"] / tpot["low"])
        told = " ".join(json.loads(done.stdout)["notes"])
        assert ("measured there and carried over:" in told) is (gpu != GPU)
    assert bands[0] < bands[1] < bands[2]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("engine", "sglang", "the calibration is of engine sglang, this is vllm."),
        ("family", "0.19", "the calibration is of release family 0.19, this is 0.33."),
        ("weights", "fp8", "the calibration is of weight precision fp8, this is bfloat16."),
        ("backend", "AMD", "the calibration is of backend AMD, this is NVIDIA."),
    ],
)
def test_another_engine_version_precision_or_backend_is_no_evidence(
    calibrated: Path, tmp_path: Path, key: str, value: str, said: str
) -> None:
    file = str(_measured(calibrated, tmp_path, **{key: value}))
    done = vram("predict", LAUNCH, "--gpu", GPU, *LOAD, "--calibration", file)
    assert done.returncode == 3
    assert f"note: Prediction only, no evidence: {said}" in done.stdout


def test_three_measurements_on_a_rehearsal_server_find_its_terms(tmp_path: Path) -> None:
    with rehearsal(launch=LAUNCH, gpu=GPU) as server:
        done = vram(
            "calibrate", "--quick", "--url", server.address, "--launch", LAUNCH, "--gpu", GPU, "--json",
            "-o", str(tmp_path / "quick.json"),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["origin"] == "rehearsed"
    compute = found["terms"]["compute"]
    assert compute["determined"]
    assert compute["factor"] == pytest.approx(
        1, abs=0.4
    )  # a busy machine serves later than it plays


def test_a_start_up_log_gives_memory_alone_and_no_step_times(tmp_path: Path) -> None:
    log = Path(__file__).parents[2] / "docs/examples/startup.log"
    file = tmp_path / "memory.json"
    done = vram("calibrate", "--server-log", str(log), "--gpu", GPU, "-o", str(file), "--json")
    assert done.returncode == 0, done.stderr
    terms = json.loads(done.stdout)["terms"]
    assert {term["basis"] for term in terms.values()} == {"measured"}
    assert set(terms) == {"activation_gib", "non_torch_gib", "cuda_graph_gib"}
    refused = vram("predict", LAUNCH, "--gpu", GPU, *LOAD, "--calibration", str(file))
    assert refused.returncode == 2
    assert refused.stderr == (
        f"vram: {file} is a calibration of memory alone, from a start-up log, and has no step times; calibrate on a "
        "run.\n"
    )


SAME_START = (
    "vllm serve meta-llama/Llama-3.1-8B-Instruct --dtype bfloat16 --max-model-len 8192 "
    "--gpu-memory-utilization 0.95 --no-enable-prefix-caching"
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("memory") / "memory.json"
    log = Path(__file__).parents[2] / "docs/examples/startup.log"
    done = vram("calibrate", "--server-log", str(log), "--gpu", GPU, "-o", str(file))
    assert done.returncode == 0, done.stderr
    return file


def of_ledger(launch: str, memory: Path) -> dict[str, Any]:
    asked = ("--gpu", GPU, "--engine-version", "0.19.0", "--calibration", str(memory), "--json")
    done = vram("ledger", launch, *asked)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["ranks"][0]["rows"]
    return {row["key"]: row["gib"] for row in rows}


def test_the_ledger_of_the_very_start_has_its_measured_rows(memory: Path) -> None:
    rows = of_ledger(SAME_START, memory)
    found = {
        name: (rows[name]["value"], rows[name]["basis"])
        for name in ("activation", "non_torch", "cuda_graph")
    }
    assert found == {
        "activation": (1.89, "measured"),
        "non_torch": (0.25, "measured"),
        "cuda_graph": (0.91, "measured"),
    }


def test_another_start_keeps_the_ledgers_own_rows_and_says_what_differs(memory: Path) -> None:
    launch = f"{SAME_START} --max-num-batched-tokens 4096"
    assert of_ledger(launch, memory)["activation"]["basis"] == "calibrated"
    asked = ("--gpu", GPU, "--engine-version", "0.19.0", "--calibration", str(memory))
    assert (
        "memory.json measured another start (max_num_batched_tokens is 4096, not 8192); its memory is not carried "
        "over, and the rows here are the ledger's own."
    ) in vram("ledger", launch, *asked).stdout


def test_size_takes_the_memory_of_a_calibration(memory: Path) -> None:
    asked = (
        "meta-llama/Llama-3.1-8B-Instruct",
        "--concurrent",
        "64",
        "--gpu",
        GPU,
        "--gpu",
        "L40S",
    )
    done = vram("size", *asked, "--engine-version", "0.19.0", "--calibration", str(memory))
    assert done.returncode == 0, done.stderr
    said = "note: Measured by memory.json, for this very start: activation peak, non-torch memory, CUDA graphs."
    assert done.stdout.count(said) == 1  # on the card that was measured, with the layout that was


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            (),
            "Name the folder of a run to calibrate on (vram trial run records one), or --server-log LOG, or "  # noqa: ISC004
            "--quick with --url.",
        ),
        (("--quick",), "--quick times the server of --url; give both, or neither and a run."),
        (
            ("somewhere", "--quick", "--url", "http://127.0.0.1:9"),
            "Runs and --quick calibrate by themselves; give one of them.",
        ),
    ],
)
def test_options_that_mean_nothing_are_refused(options: tuple[str, ...], said: str) -> None:
    done = vram("calibrate", *options)
    assert done.returncode == 2
    assert done.stderr == f"vram: {said}\n"


@pytest.mark.parametrize("content", ["[]", "{", '{"schema": "vramledger.run/1"}'])
def test_a_file_that_is_no_calibration_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "no.json"
    file.write_text(content)
    done = vram("predict", LAUNCH, "--gpu", GPU, *LOAD, "--calibration", str(file))
    assert done.returncode == 2
    assert "write it anew with vram calibrate" in done.stderr
    assert "Traceback" not in done.stderr
