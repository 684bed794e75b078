"""Predictions for all rows with one set of coefficients, as ratios to what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from timing_fit.rows import Row
from vramledger.simulate.timing.cases.deployment import load_of, question_of
from vramledger.simulate.timing.cases.line import read_case
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.outlook import (
    Prepared,
    closed_form,
    outlook,
    prepare,
    waits_for_room,
)

_OF_THE_LOAD: Final = frozenset({"id", "input_tokens", "output_tokens", "concurrency", "requests"})


@dataclass(frozen=True, slots=True)
class Point:
    """A row whose deployment is resolved, ready to be priced again and again."""

    row: Row
    prepared: Prepared
    load: Load


def points(rows: Sequence[Row]) -> list[Point]:
    """The rows with their deployments; equal ones are resolved once."""
    known: dict[object, Prepared] = {}
    found = []
    for row in rows:
        case = read_case(row.case)
        key = tuple(value for name, value in row.case.items() if name not in _OF_THE_LOAD)
        if key not in known:
            known[key] = prepare(question_of(case).deployment)
        found.append(Point(row, known[key], load_of(case)))
    return found


def log_ratios(found: Sequence[Point], coefficients: Coefficients) -> NDArray[np.float64]:
    """``[rows, 2]``: logarithm of predicted over measured, TPOT then TTFT."""
    ratios = []
    for point in found:
        seen = outlook(point.prepared, point.load, coefficients)
        ratios.append((seen.tpot / point.row.tpot, seen.ttft / point.row.ttft))
    logs: NDArray[np.float64] = np.log(np.array(ratios))
    return logs


def log_closed_form(found: Sequence[Point], coefficients: Coefficients) -> NDArray[np.float64]:
    """``[rows, 2]``: logarithms of the closed form's TPOT and TTFT, for derivatives."""
    values = []
    for point in found:
        seen = closed_form(point.prepared, point.load, coefficients)
        values.append((seen.tpot, seen.waits.total))
    logs: NDArray[np.float64] = np.log(np.array(values))
    return logs


def changed(
    coefficients: Coefficients, names: Sequence[str], logs: NDArray[np.float64]
) -> Coefficients:
    """The coefficients with those of `names` multiplied by the exponentials of `logs`."""
    values = {
        name: getattr(coefficients, name) * float(np.exp(log))
        for name, log in zip(names, logs, strict=True)
    }
    return replace(coefficients, **values)


def waiting_rows(found: Sequence[Point], coefficients: Coefficients) -> NDArray[np.bool_]:
    """Which rows wait for room in the cache."""
    waits = [
        waits_for_room(outlook(point.prepared, point.load, coefficients), point.load)
        for point in found
    ]
    return np.array(waits)
