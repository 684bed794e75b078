"""How often vram compare calls equal runs different, and how often it finds an effect of 10 %: ``make compare-errors``.

Runs are drawn: each latency is what the request's lengths make of it times a factor that neighbours share (a first-order
autoregression of 0, 0.5 or 0.9), or a queue in which they wait for one another. Two equal ones make a comparison; it errs where
any figure is called different after the correction. For the power, the planner is asked, after a pilot of its own, how
many requests find 10 % in a mean, and as many are sent.

    python scripts/compare_errors.py [REPEATS]
"""

import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

import numpy as np
from scipy.signal import lfilter

from vramledger.compare.effect import paired_effect, unpaired_effect_of
from vramledger.compare.figures import Figure, figures_of
from vramledger.compare.finding import Finding, Measured, Standing, findings
from vramledger.compare.matching import pairs_of
from vramledger.compare.records import Records
from vramledger.compare.sample_size import requests_needed

_REPEATS: Final = 1000
_PILOT: Final = 1000
_EFFECT: Final = 1.1
_MEAN: Final = Figure("e2e_s", "mean")
Floats = np.ndarray[Any, np.dtype[np.float64]]


def slowness(count: int, alike: float, draw: np.random.Generator) -> Floats:
    """The exponential of a first-order autoregression, which neighbours share."""
    begun = draw.normal() * alike
    scatter, _ = lfilter(
        [np.sqrt(1 - alike**2)], [1.0, -alike], draw.normal(size=count), zi=[begun]
    )
    return np.asarray(np.exp(0.4 * scatter))


def waits(due: Floats, served_s: Floats) -> Floats:
    """Of one server that takes one request at a time (D. V. Lindley's recursion)."""
    steps = np.concatenate(([0.0], served_s[:-1] - np.diff(due)))
    walk = np.cumsum(steps)
    return np.asarray(walk - np.minimum.accumulate(np.minimum(walk, 0.0)))


def run(count: int, alike: float, draw: np.random.Generator, *, factor: float = 1.0) -> Records:
    """A run of one workload of so many requests; `alike` of -1 is the queue."""
    workload = np.random.default_rng(7)
    tokens = workload.integers(20, 200, count).astype(np.float64)
    due = np.cumsum(workload.exponential(0.1, count))
    if alike < 0:
        served = factor * 0.05 * draw.gamma(4.0, 0.25, count)
        ttft, tpot = 0.05 + waits(due, served) + served, factor * 0.01 * np.exp(0.2 * draw.normal(size=count))  # fmt: skip
    else:
        ttft, tpot = factor * 0.2 * slowness(count, alike, draw), factor * 0.01 * slowness(count, alike, draw)  # fmt: skip
    unknown = np.full(count, np.nan)
    values = {"ttft_s": ttft, "first_answer_s": ttft, "tpot_s": tpot, "queue_s": unknown, "e2e_s": ttft + tpot * tokens, "longest_gap_s": unknown}  # fmt: skip
    columns = {"due_s": due, "dispatched_s": due, "done_s": due + values["e2e_s"], "output_tokens_got": tokens}  # fmt: skip
    ok = draw.random(count) > 0.01
    return Records(np.arange(count), ok, np.zeros(count, np.bool_), columns, values, 0)


def held(a: Records, b: Records, *, paired: bool) -> tuple[Finding, ...]:
    """Every figure of one comparison."""
    pairs = pairs_of(a, b)
    return findings(
        [
            Measured(
                figure,
                paired_effect(figure, [pairs]) if paired else None,
                None if paired else unpaired_effect_of(figure, [a], [b]),
                None,
            )
            for figure in figures_of(a, b, closed=False)
        ],
        0.0,
    )


def called_different(count: int, alike: float, seeds: Iterator[int], *, paired: bool, repeats: int) -> float:  # fmt: skip
    """The share of comparisons of equal runs in which any figure is called different."""
    wrong = 0
    for _ in range(repeats):
        draw = np.random.default_rng(next(seeds))
        found = held(run(count, alike, draw), run(count, alike, draw), paired=paired)
        wrong += any(each.standing is Standing.DIFFERS for each in found)
    return wrong / repeats


def found_share(alike: float, seeds: Iterator[int], *, paired: bool, repeats: int) -> tuple[float, float]:  # fmt: skip
    """The share in which 10 % is found in the mean of E2E, by as many requests as the planner asks for; and their median."""
    told, counts = 0, []
    for _ in range(repeats):
        draw = np.random.default_rng(next(seeds))
        pilot = held(run(_PILOT, alike, draw), run(_PILOT, alike, draw), paired=paired)
        count = needed(pilot)
        counts.append(count)
        a, b = run(count, alike, draw), run(count, alike, draw, factor=_EFFECT)
        told += any(
            each.figure == _MEAN and each.standing is Standing.DIFFERS for each in held(a, b, paired=paired)
        )  # fmt: skip
    return told / repeats, float(np.median(counts))


def needed(pilot: tuple[Finding, ...]) -> int:
    """What the planner asks for to find 10 % in the mean of E2E."""
    effect = next(each.chosen for each in pilot if each.figure == _MEAN)
    tested = sum(each.p is not None for each in pilot)
    return max(requests_needed(effect, _EFFECT - 1, tested) or _PILOT, 50)


def each_case(report: Callable[[str], None], repeats: int) -> None:
    """Every case, a line each."""
    seeds = iter(range(10**9))
    for count, alike, paired in product((300, 2000), (0.0, 0.5, 0.9, -1.0), (True, False)):
        share = called_different(count, alike, seeds, paired=paired, repeats=repeats)
        report(f"equal     {_named(alike)} {count:>6,} requests {'paired' if paired else 'unpaired'}: {share:.1%}")  # fmt: skip
    for alike, paired in product((0.0, 0.5, 0.9), (True, False)):
        found, asked = found_share(alike, seeds, paired=paired, repeats=max(repeats // 4, 1))
        report(f"10 % more {_named(alike)} {asked:>6,.0f} requests {'paired' if paired else 'unpaired'}: found in {found:.1%}")  # fmt: skip


def _named(alike: float) -> str:
    return "a queue     " if alike < 0 else f"alike by {alike:.1f}"


if __name__ == "__main__":
    each_case(print, int(sys.argv[1]) if len(sys.argv) > 1 else _REPEATS)
