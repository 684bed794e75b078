"""Shipped profiles say where they come from and match it."""

import csv
import importlib.util
import json
import sys
from pathlib import Path
from statistics import fmean
from types import ModuleType

import pytest

from vramledger.errors import UnknownName
from vramledger.evidence import Basis
from vramledger.plan.profile import profile, profile_names
from vramledger.plan.requirement import Kind

ROOT = Path(__file__).parents[2]


def test_profiles_of_the_usual_uses_ship() -> None:
    assert profile_names() == (
        "agents",
        "batch-summarise",
        "chat",
        "chat-with-documents",
        "classification",
        "code-completion",
        "rag",
        "reasoning",
    )


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_is_whole_and_says_its_basis(name: str) -> None:
    shape = profile(name)
    assert shape.title
    assert shape.note
    assert shape.basis in (Basis.QUOTED, Basis.ASSUMED)
    assert (shape.basis is Basis.QUOTED) == bool(shape.licence and shape.attribution)
    assert sum(cell.weight for cell in shape.lengths.cells) == pytest.approx(1)
    assert shape.lengths.mean_total < shape.lengths.total_at(0.99) < shape.lengths.longest
    assert name in shape.source


def test_work_that_queues_is_of_kind_throughput() -> None:
    assert profile("batch-summarise").kind is Kind.THROUGHPUT
    assert profile("chat").kind is Kind.LATENCY


def test_an_unknown_profile_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        profile("chat-with-docs", "plan.yaml line 4")
    assert str(caught.value).startswith(
        "Unknown profile 'chat-with-docs' in plan.yaml line 4; the nearest known "
        "one is chat-with-documents. Known are agents, batch-summarise"
    )


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("chat", "azure_llm_2023_conv.csv"),
        ("code-completion", "azure_llm_2023_code.csv"),
        ("chat-with-documents", "mooncake_conversation_trace.jsonl"),
    ],
)
def test_profiles_of_traces_keep_their_means_percentiles_and_longest(
    name: str, file: str, shared_data: Path
) -> None:
    rows = _trace(shared_data / "traces" / file)
    lengths = profile(name).lengths
    assert lengths.mean_input == pytest.approx(fmean(row[0] for row in rows), rel=0.001)
    assert lengths.mean_output == pytest.approx(fmean(row[1] for row in rows), rel=0.005)
    assert lengths.longest == max(map(sum, rows))
    totals = sorted(map(sum, rows))
    for share in (0.5, 0.9, 0.95, 0.99):
        assert lengths.total_at(share) == pytest.approx(totals[int(share * len(totals))], rel=0.2)


def test_shipped_profiles_are_what_the_script_computes(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = _script("make_profiles")
    shipped = Path(script.PROFILES)
    monkeypatch.setattr(script, "PROFILES", tmp_path)
    monkeypatch.setattr(sys, "argv", ["make_profiles.py", str(shared_data / "traces")])
    script.main()
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == ["chat-with-documents.toml", "chat.toml", "code-completion.toml"]
    for name in made:
        assert (tmp_path / name).read_text() == (shipped / name).read_text()


def _trace(path: Path) -> list[tuple[int, int]]:
    if path.suffix == ".csv":
        with path.open(newline="") as stream:
            rows = csv.DictReader(stream)
            return [(int(row["ContextTokens"]), int(row["GeneratedTokens"])) for row in rows]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["input_length"], line["output_length"]) for line in lines]


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
