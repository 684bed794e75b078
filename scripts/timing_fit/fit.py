"""Coefficients from rows: Gauss-Newton on logarithms, robust, with priors from kernel tables.

Residuals are those of the played run; derivatives are the closed form's, which are all but the same and
a tenth of the work. A residual far out counts less (Huber), a configuration that was measured twice
counts once, and a coefficient that the rows do not know stays at its prior.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from timing_fit.evaluate import Point, changed, log_closed_form, log_ratios
from timing_fit.priors import PRIORS, Prior
from vramledger.simulate.timing.coefficients import Coefficients

_SCALE = np.array([0.06, 0.15])  # what a residual of TPOT and of TTFT is measured by
_HUBER = 1.0  # residuals beyond it count linearly
_STEP = 0.02  # of a logarithm, for derivatives
_LONGEST = 0.5  # of a logarithm in one round


@dataclass(frozen=True, slots=True)
class State:
    """Where a fit stands: coefficients with the residuals and derivatives of all rows there."""

    coefficients: Coefficients
    residuals: NDArray[np.float64]  # [rows, 2], logarithms
    derivatives: NDArray[np.float64]  # [rows, 2, coefficients]


def state_at(points: Sequence[Point], coefficients: Coefficients) -> State:
    """Residuals and derivatives of all rows."""
    base = log_closed_form(points, coefficients)
    columns = []
    for prior in PRIORS:
        moved = changed(coefficients, [prior.name], np.array([_STEP]))
        columns.append((log_closed_form(points, moved) - base) / _STEP)
    return State(coefficients, log_ratios(points, coefficients), np.stack(columns, axis=2))


def improved(points: Sequence[Point], state: State, rows: NDArray[np.bool_]) -> Coefficients:
    """The coefficients after one round over the chosen rows."""
    weights = _weights(points, state.residuals, rows)
    step = _solve(state, weights)
    longest = np.abs(step).max()
    return changed(
        state.coefficients,
        [prior.name for prior in PRIORS],
        step * min(1.0, _LONGEST / max(longest, 1e-12)),
    )


def fit(points: Sequence[Point], start: Coefficients, rounds: int) -> Coefficients:
    """The coefficients fitted to all points."""
    everything = np.ones(len(points), dtype=bool)
    found = start
    for _ in range(rounds):
        found = improved(points, state_at(points, found), everything)
    return found


def left_out(points: Sequence[Point], state: State) -> NDArray[np.float64]:
    """``[rows, 2]``: logarithms of each group's ratios by coefficients fitted without it.

    `state` must stand at the fit of all rows; leaving a group out moves it by one round from there.
    """
    ratios = np.empty((len(points), 2))
    groups = [point.row.group for point in points]
    for group in dict.fromkeys(groups):
        outside = np.array([other != group for other in groups])
        found = improved(points, state, outside)
        chosen = [point for point in points if point.row.group == group]
        ratios[~outside] = log_ratios(chosen, found)
    return ratios


def _weights(
    points: Sequence[Point], residuals: NDArray[np.float64], rows: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """``[rows, 2]``: 0 for rows that are left out, smaller far from the prediction."""
    same = [_configuration(point) for point in points]
    repeats = Counter(same)
    once = np.array([1 / repeats[key] for key in same])
    scaled = np.abs(residuals) / _SCALE
    robust = np.where(scaled > _HUBER, _HUBER / np.maximum(scaled, 1e-12), 1.0)
    weights: NDArray[np.float64] = (rows * once)[:, None] * robust / _SCALE**2
    return weights


def _configuration(point: Point) -> tuple[object, ...]:
    case = point.row.case
    skipped = {"id", "engine_version", "moe_tp", "moe_ep", "requests"}
    return tuple(value for name, value in case.items() if name not in skipped)


def _solve(state: State, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    flat = state.derivatives.reshape(-1, len(PRIORS))
    weighted = flat * weights.reshape(-1, 1)
    precision = np.array([1 / prior.spread**2 for prior in PRIORS])
    away = np.array([_away(state.coefficients, prior) for prior in PRIORS])
    left = flat.T @ weighted + np.diag(precision)
    right = weighted.T @ state.residuals.reshape(-1) + precision * away
    solved: NDArray[np.float64] = -np.linalg.solve(left, right)
    return solved


def _away(coefficients: Coefficients, prior: Prior) -> float:
    return float(np.log(getattr(coefficients, prior.name) / prior.value))
