"""The cases put their question to the command line, as their owner would."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from steady_requests import together
from stored_workloads import Row
from vramledger.cli.main import run


@dataclass(frozen=True)
class Answer:
    """What one command said."""

    code: int
    text: str
    error: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    def finding(self, name: str) -> dict[str, Any]:
        """The finding of that id, of a ledger in JSON."""
        found: dict[str, Any] = next(f for f in self.json["findings"] if f["id"] == name)
        return found

    @property
    def finding_ids(self) -> set[str]:
        return {f["id"] for f in self.json["findings"]}


Ask = Callable[..., Answer]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run ``vram`` with these words and collect what it says."""

    def asked(*words: str) -> Answer:
        code = run(words)
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return asked


@pytest.fixture
def ledger(ask: Ask) -> Ask:
    """``vram ledger LAUNCH --gpu GPU --engine-version VERSION`` and further words."""

    def asked(launch: str, gpu: str, version: str, *words: str) -> Answer:
        return ask("ledger", launch, "--gpu", gpu, "--engine-version", version, *words)

    return asked


@pytest.fixture
def predicted(ask: Ask) -> Callable[..., Answer]:
    """``vram predict LAUNCH`` of a steady load, in JSON."""

    def asked(
        launch: str, gpu: str, version: str, load: tuple[int, int, int], *words: str
    ) -> Answer:
        inputs, outputs, concurrency = (str(number) for number in load)
        return ask(
            "predict", launch, "--gpu", gpu, "--engine-version", version, "--input-tokens", inputs,
            "--output-tokens", outputs, "--concurrency", concurrency, "--json", *words,
        )  # fmt: skip

    return asked


@pytest.fixture
def simulated(ask: Ask, tmp_path: Path) -> Callable[..., Answer]:
    """``vram simulate LAUNCH`` of requests, in JSON."""
    runs = 0

    def asked(launch: str, gpu: str, version: str, requests: Iterator[Row], *words: str) -> Answer:
        nonlocal runs
        runs += 1
        workload = together(tmp_path / f"{runs}.parquet", requests)
        return ask(
            "simulate", launch, "--gpu", gpu, "--engine-version", version, "--workload",
            str(workload), "-o", str(tmp_path / f"run-{runs}"), "--json", *words,
        )  # fmt: skip

    return asked
