"""Every reader against many hostile inputs; ``make fuzz`` runs the long search.

``VRAM_FUZZ_SEED`` names the search; the same name repeats it.
"""

import os
from pathlib import Path

import pytest

from fuzz.driver import Target, drive
from fuzz.targets import (
    accounts,
    configs,
    launches,
    measurements,
    options,
    plans,
    profiles,
    request_logs,
    simulations,
    weights,
)

MODULES = (
    configs,
    accounts,
    weights,
    plans,
    launches,
    measurements,
    options,
    request_logs,
    profiles,
    simulations,
)
TARGETS = [target for module in MODULES for target in module.TARGETS]
MANY = 100_000
each = pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])


def seed() -> str:
    return os.environ.get("VRAM_FUZZ_SEED", "1")


def test_a_long_search_reads_enough() -> None:
    assert sum(target.cases for target in TARGETS) >= MANY


@each
def test_a_few_hostile_inputs_are_read_or_refused(target: Target, tmp_path: Path) -> None:
    tally = drive(target, target.few, "few", tmp_path)
    assert tally.read + tally.refused == target.few
    assert tally.refused > 0


@pytest.mark.fuzz
@each
def test_many_hostile_inputs_are_read_or_refused(
    target: Target, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        tally = drive(target, target.cases, seed(), tmp_path, show=True)
    assert tally.read + tally.refused == target.cases
    assert min(tally.read, tally.refused) > target.cases // 100  # both ends are reached
