"""The page of errors: how far predictions are from what was measured."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from timing_fit.evaluate import Point
from timing_fit.fit import State
from timing_fit.groups import GROUPINGS
from timing_fit.priors import PRIORS
from timing_fit.rows import Rows
from timing_fit.scores import Bands, Score, coverage, score, scores_by

_HEAD = """\
# Errors of the predicted step time

Written by `make timing`. Errors are |predicted / measured - 1|, in percent. *Left out*: all rows of one
model on one GPU are predicted with coefficients fitted without them. The measured servers are the
aggregated vLLM rows of the public silicon table of aiconfigurator (Apache-2.0).
"""
_TITLES = {
    "gpu": "By GPU",
    "engine": "By engine",
    "model_class": "By model class",
    "group": "By group",
}


def page_text(
    rows: Rows,
    points: Sequence[Point],
    state: State,
    outside: NDArray[np.float64],
    bands: Mapping[str, Bands],
) -> str:
    """The page as Markdown."""
    lines = [_HEAD, *_whole(state, outside)]
    for name, key in GROUPINGS.items():
        lines += ["", f"## {_TITLES[name]}, left out", "", *_table(scores_by(points, outside, key))]
    lines += ["", "## Bands", "", *_bands(points, outside, bands)]
    lines += ["", "## Coefficients", "", *_coefficients(state)]
    lines += ["", "## Rows set aside", "", *_aside(rows)]
    return "\n".join(lines) + "\n"


def _whole(state: State, outside: NDArray[np.float64]) -> list[str]:
    rows = [score("fitted to all", state.residuals), score("left out", outside)]
    return ["## All rows", "", *_table(rows)]


def _table(scores: Sequence[Score]) -> list[str]:
    lines = [
        "| | rows | TPOT mean | TPOT median | TTFT mean | TTFT median | bias TPOT | bias TTFT |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in scores:
        errors = (one.tpot_mean, one.tpot_median, one.ttft_mean, one.ttft_median)
        cells = " | ".join(f"{100 * value:.1f}" for value in errors)
        biases = " | ".join(f"{np.expm1(value):+.0%}" for value in (one.tpot_bias, one.ttft_bias))
        lines.append(f"| {one.name} | {one.rows} | {cells} | {biases} |")
    return lines


def _bands(
    points: Sequence[Point], outside: NDArray[np.float64], bands: Mapping[str, Bands]
) -> list[str]:
    lines = ["| figure | predicted / measured |", "|---|---|"]
    lines += [f"| {name} | {band.low:.2f} to {band.high:.2f} |" for name, band in bands.items()]
    covered = [coverage(points, outside[:, place]) for place in (0, 1)]
    said = (
        f"A band made of the other groups' ratios covers {covered[0]:.1%} of the TPOT and "
        f"{covered[1]:.1%} of the TTFT rows of a group."
    )
    return [*lines, "", said]


def _coefficients(state: State) -> list[str]:
    lines = ["| coefficient | prior | spread of its logarithm | fitted |", "|---|---|---|---|"]
    for prior in PRIORS:
        value = getattr(state.coefficients, prior.name)
        lines.append(f"| `{prior.name}` | {prior.value:g} | {prior.spread:g} | {value:.4g} |")
    return lines


def _aside(rows: Rows) -> list[str]:
    reasons = Counter(reason for _, reason in rows.aside)
    return [f"- {count} rows: {reason}." for reason, count in reasons.items()]
