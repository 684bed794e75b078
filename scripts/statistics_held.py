"""How often intervals hold the truth, and how often a queue is called by what it does: series and queues of known figures.

    python scripts/statistics_held.py [--repeats 1000] [--queues 200]

Exit 1 where an interval of 95 % holds fewer than 92 or more than 98 of 100, or fewer than 95 of 100 queues are called rightly.
"""

import argparse
import sys
import tempfile
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import lfilter
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from queued_trials import queued_trial
from vramledger.accept.offered import read_offered
from vramledger.accept.queue import Course, queue_of
from vramledger.record.run import read_run
from vramledger.statistics.estimate import Estimate, mean_of, percentile_of, rate_of

SETTINGS = ((2000, 0.0), (2000, 0.5), (2000, 0.8), (8000, 0.5), (8000, 0.8), (8000, 0.9))
SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
RATE = 3.0
QUEUES: dict[str, tuple[Course, dict[str, Any]]] = {
    "15 % too many arrive": (Course.GROWS, {"service_s": 0.92}),
    "30 % too many arrive": (Course.GROWS, {"service_s": 1.04}),
    "70 % of what it can": (Course.DRAINS, {"service_s": 0.56}),
    "a burst, then 70 %": (Course.DRAINS, {"service_s": 0.56, "burst": 150}),
}


def series(correlation: float, count: int, seed: int) -> "np.ndarray[Any, Any]":
    """Normal, of mean 0 and deviation 1, correlated to the first order."""
    noise = np.random.default_rng([seed, count]).normal(size=count + 300)
    found: np.ndarray[Any, Any] = lfilter([sqrt(1 - correlation**2)], [1, -correlation], noise)
    return found[300:]


def held(found: Estimate | None, truth: float) -> bool:
    """Whether the interval holds it."""
    return found is not None and found.low <= truth <= found.high


def coverage(count: int, correlation: float, repeats: int) -> dict[str, float]:
    """Of latencies exp(x / 2), and of counts that come at a rate which is itself correlated."""
    hits = dict.fromkeys(("mean", *SHARES, "rate"), 0)
    for seed in range(repeats):
        normal = series(correlation, count, seed)
        values = np.exp(normal / 2)
        hits["mean"] += held(mean_of(values), float(np.exp(1 / 8)))
        for name, share in SHARES.items():
            hits[name] += held(percentile_of(values, share), float(np.exp(norm.ppf(share) / 2)))
        pace = RATE * np.exp(normal / 4 - 1 / 32)
        counts = np.random.default_rng([seed, 1]).poisson(pace).astype(np.float64)
        hits["rate"] += held(rate_of(counts, np.ones(count)), RATE)
    return {name: hit / repeats for name, hit in hits.items()}


def called(course: Course, given: dict[str, Any], queues: int) -> float:
    """The share of such queues that is called by what it does."""
    right = 0
    with tempfile.TemporaryDirectory() as place:
        for seed in range(queues):
            folder = queued_trial(Path(place) / str(seed), 1500, seed=1000 + seed, **given)
            right += queue_of(read_offered(read_run(folder))).course is course
    return right / queues


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--queues", type=int, default=200)
    asked = parser.parse_args()
    wrong = False
    print("| values | correlation | mean | p50 | p95 | p99 | rate |\n|---|---|---|---|---|---|---|")
    for count, correlation in SETTINGS:
        found = coverage(count, correlation, asked.repeats)
        wrong |= any(not 0.92 <= share <= 0.98 for share in found.values())
        shown = " | ".join(f"{share:.1%}" for share in found.values())
        print(f"| {count:,} | {correlation:g} | {shown} |", flush=True)
    print("\n| queue | called | of those |\n|---|---|---|")
    for name, (course, given) in QUEUES.items():
        share = called(course, given, asked.queues)
        wrong |= share < 0.95
        print(f"| {name} | {course} | {share:.1%} |", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
