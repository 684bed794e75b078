"""Fit, cross-validate and write: ``python -m timing_fit`` in `scripts` (``make timing``).

``python -m timing_fit check`` evaluates the coefficients as they stand and exits 1 when a target is
missed; ``python -m timing_fit tables`` does the same and writes errors and bands anew.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from timing_fit.coefficient_file import write
from timing_fit.evaluate import Point, points, waiting_rows
from timing_fit.fit import State, fit, left_out, state_at
from timing_fit.groups import GROUPINGS
from timing_fit.page import page_text
from timing_fit.per_request import Runs, calibrated_runs, missed_by_runs, section
from timing_fit.rows import Rows, measured_rows
from timing_fit.scores import Bands, band, scores_by
from timing_fit.targets import missed
from vramledger.simulate.timing.coefficients import Coefficients, shipped

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = _ROOT.parent / "shared" / "data"
_DATA: Final = _FOLDER / "measured_serving.csv"
_RUNS: Final = _FOLDER / "perf"
_FILE: Final = _ROOT / "src" / "vramledger" / "simulate" / "timing" / "coefficients.toml"
_PAGE: Final = _ROOT / "docs" / "explanation" / "timing_errors.md"
_ROUNDS: Final = 4


def main() -> None:
    """Fit and write; with ``check`` or ``tables`` the coefficients stay as they are."""
    asked = sys.argv[1:]
    rows = measured_rows(_DATA)
    found = points(rows.kept)
    start = shipped().coefficients
    coefficients = start if asked in (["check"], ["tables"]) else fit(found, start, _ROUNDS)
    state = state_at(found, coefficients)
    outside = left_out(found, state)
    runs = calibrated_runs(_RUNS, coefficients)
    if asked != ["check"]:
        _write(rows, found, state, outside, runs)
    failures = [*missed(found, outside), *missed_by_runs(runs)]
    print("\n".join(failures) or "Every timing target holds.")
    sys.exit(1 if failures else 0)


def _write(
    rows: Rows, found: list[Point], state: State, outside: NDArray[np.float64], runs: Runs
) -> None:
    scores = {name: scores_by(found, outside, key) for name, key in GROUPINGS.items()}
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "rows": len(found),
        "releases": _releases(found),
        "architectures": sorted({point.prepared.work.accelerator.architecture for point in found}),
    }
    bands = _bands(found, state.coefficients, outside)
    write(_FILE, state.coefficients, bands, scores, facts)
    page = page_text(rows, found, state, outside, bands) + section(runs)
    _PAGE.write_text(page, encoding="utf-8")


def _releases(found: list[Point]) -> tuple[str, str]:
    """The first and the last release family."""
    families = {point.prepared.deployment.rules.family for point in found}
    ordered = sorted(families, key=lambda family: [int(part) for part in family.split(".")])
    return ordered[0], ordered[-1]


def _bands(
    found: list[Point], coefficients: Coefficients, outside: NDArray[np.float64]
) -> dict[str, Bands]:
    """Bands of rows that wait for room, and of the others."""
    waits = waiting_rows(found, coefficients)
    return {
        "tpot": band(outside[~waits, 0]),
        "ttft": band(outside[~waits, 1]),
        "tpot_waiting": band(outside[waits, 0]),
        "ttft_waiting": band(outside[waits, 1]),
    }


if __name__ == "__main__":
    main()
