"""The report as a browser shows it: nothing sticks out, nothing lies on another, all text can be read, light and dark."""

from pathlib import Path
from typing import Any

import pytest

from browser import looked_at
from recorded_trials import described, small_trial, standing
from vramledger.calibrate.run_deployment import Stated
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.report.run_report.gathered import gathered
from vramledger.report.run_report.model import Terms
from vramledger.report.run_report.page import to_html

CONTRACT = Contract({"ttft_s": (LatencyLimit(None, {0.5: 9.0, 0.95: 1.0}),)}, success=0.5)
LONG = "a-model-with-a-very-long-name-without-a-single-space-" * 4


def page_of(folder: Path, **values: Any) -> str:
    trial = standing().to_json() | {"contract": contract_to_json(CONTRACT)}
    run = small_trial(folder / "run", about=described(trial=trial, **values))
    report = gathered(
        LONG, [run], Stated(gpu="H100-80GB-SXM", model="Qwen/Qwen3-8B"), terms=Terms()
    )
    return to_html(report)


@pytest.mark.parametrize("dark", [False, True])
def test_a_report_is_readable_at_any_width(tmp_path: Path, *, dark: bool) -> None:
    for look in looked_at(page_of(tmp_path, name=LONG), tmp_path, (1280, 700, 390), dark=dark):
        assert look.content <= look.width
        assert look.out == []
        assert look.overlapping == []
        assert look.dimmest["ratio"] >= 4.5, look.dimmest
        assert look.scripts == 0
        assert look.paper == ("rgb(20, 25, 31)" if dark else "rgb(255, 255, 255)")


def test_headings_go_down_one_at_a_time(tmp_path: Path) -> None:
    (look,) = looked_at(page_of(tmp_path), tmp_path, (900,))
    assert look.headings[0] == 1
    assert look.headings.count(1) == 1
    steps = zip(look.headings, look.headings[1:], strict=False)
    assert all(later - before <= 1 for before, later in steps)
