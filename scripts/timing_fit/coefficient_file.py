"""Writes the coefficient file of the package."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from timing_fit.scores import Bands, Score
from vramledger.simulate.timing.coefficients import Coefficients

_HEAD = """\
# The fitted numbers of the step time. Written by `make timing`; do not edit by hand.
# Names, units and meanings: vramledger/simulate/timing/coefficients.py.
"""


def write(
    path: Path,
    coefficients: Coefficients,
    bands: Mapping[str, Bands],
    scores: Mapping[str, Sequence[Score]],
    facts: Mapping[str, object],
) -> None:
    """The file: date and size of the fit, coefficients, bands, left-out errors."""
    lines = [_HEAD]
    lines += [f"{name} = {_value(value)}" for name, value in facts.items()]
    lines += ["", "[coefficients]"]
    lines += [
        f"{field.name} = {getattr(coefficients, field.name):.5g}" for field in fields(Coefficients)
    ]
    for name, band in bands.items():
        lines += ["", f"[bands.{name}]", f"low = {band.low:.4g}", f"high = {band.high:.4g}"]
    for kind, rows in scores.items():
        lines += ["", f"[errors.{kind}]  # left out by model and GPU: mean and median of |p/m - 1|"]
        lines += [f"{_value(score.name)} = {_score(score)}" for score in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _score(score: Score) -> str:
    return (
        f"{{rows = {score.rows}, tpot_mean = {score.tpot_mean:.3f}, "
        f"tpot_median = {score.tpot_median:.3f}, ttft_mean = {score.ttft_mean:.3f}, "
        f"ttft_median = {score.ttft_median:.3f}}}"
    )


def _value(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | list):
        return f"[{', '.join(_value(item) for item in value)}]"
    return str(value)
