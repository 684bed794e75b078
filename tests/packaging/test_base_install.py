"""The base install: small, and enough for the everyday verbs."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST_MB = 60
HEAVY = (
    "rich",
    "pydantic",
    "ruamel",
    "huggingface_hub",
    "prometheus_client",
    "pynvml",
    "numpy",
    "httpx",
    "requests",
    "urllib.request",
    "ssl",
    "asyncio",
    "hypothesis",
)
# What reading a launch, a catalogue model and a catalogue card has no use for.
SLOW_TO_START = (
    "lzma",
    "bz2",
    "zipfile",
    "tempfile",
    "random",
    "importlib.resources",
    "importlib.metadata",
    "socket",
    "email",
    "http",
    "subprocess",
    "logging",
    "csv",
    "vramledger.hardware.custom",
    "vramledger.hardware.local",
    "vramledger.model.files.hub",
    "vramledger.model.files.safetensors",
    "vramledger.model.files.gguf",
    "vramledger.model.from_files",
    "vramledger.model.from_hub",
    "vramledger.model.gguf",
    "vramledger.model.headers",
    "vramledger.model.quantization.online",
    "vramledger.engine.others",
    "vramledger.engine.manifests.document",
    "vramledger.engine.vllm.config_file",
    "vramledger.engine.vllm.log",
    "vramledger.ledger.solve",
    "vramledger.ledger.sweep",
    "vramledger.ledger.versus",
    "vramledger.ledger.gate",
    "vramledger.ledger.measured",
    "vramledger.report.ledger",
    "vramledger.report.questions",
    "vramledger.plan",
    "vramledger.sizing",
    "vramledger.yaml_nodes",
    "vramledger.yaml_text",
)
MOST_MODULES = 170  # of ours, to account for a plain model; each costs about half a millisecond
LAUNCH = "vllm serve Qwen/Qwen2.5-72B-Instruct -tp 4 --max-model-len 32768"


@pytest.fixture(scope="module")
def base_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the package and its base dependencies, without pip itself."""
    folder = tmp_path_factory.mktemp("base")
    wheels = folder / "wheels"
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (wheel,) = wheels.glob("vramledger-*.whl")
    done = subprocess.run(
        [*pip, "install", "--target", str(site), str(wheel)],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"the package index cannot be reached: {done.stderr.strip()[-200:]}")
    return site


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``vram`` from that folder alone, isolated from this environment's packages."""
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from vramledger.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_base_install_stays_small(base_environment: Path) -> None:
    size = sum(path.stat().st_size for path in base_environment.rglob("*") if path.is_file())
    assert size / 1e6 < LARGEST_MB


def test_the_wheel_carries_its_data_and_nothing_of_the_tests(base_environment: Path) -> None:
    (wheel,) = (base_environment.parent / "wheels").glob("vramledger-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("py.typed") for name in names)
    assert sum(name.endswith(".toml") for name in names) > 200
    assert not [name for name in names if name.startswith(("tests/", "scripts/"))]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("inspect", "Qwen/Qwen2.5-72B-Instruct", "--json"),
        ("ledger", LAUNCH, "--gpu", "H100-80GB-SXM", "--json"),
        ("gpus", "L40S"),
        ("size", "Qwen/Qwen2.5-72B-Instruct", "--concurrent", "8", "--gpu", "H100-80GB-SXM"),
        ("plan", "new"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_everyday_verbs_need_only_the_base(
    base_environment: Path, arguments: tuple[str, ...]
) -> None:
    done = run(base_environment, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_reading_the_hub_needs_no_library(base_environment: Path) -> None:
    """Without the hub library the standard one reads; an unreachable hub is one sentence."""
    code = (
        f"import sys, os; sys.path.insert(0, {str(base_environment)!r});"
        "os.environ['HF_ENDPOINT'] = 'http://127.0.0.1:9';"
        "from vramledger.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, "inspect", "hf:some/model"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("vram: ")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["ledger", LAUNCH, "--gpu", "H100-80GB-SXM", "--json"],
        ["inspect", "Qwen/Qwen2.5-72B-Instruct", "--json"],
        ["gpus", "L40S", "--json"],
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_the_fast_path_imports_nothing_heavy(arguments: list[str]) -> None:
    assert sorted(loaded_by(arguments) & set(HEAVY)) == []


def test_a_ledger_of_catalogue_names_loads_only_what_it_needs() -> None:
    loaded = loaded_by(["ledger", LAUNCH, "--gpu", "H100-80GB-SXM", "--json"])
    assert sorted(loaded & set(SLOW_TO_START)) == []
    assert len([name for name in loaded if name.split(".")[0] == "vramledger"]) <= MOST_MODULES


def loaded_by(arguments: list[str]) -> set[str]:
    """Names of every module in a process that ran the command."""
    code = (
        "import sys, json\n"
        "from vramledger.cli.main import run\n"
        f"run({arguments!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))
