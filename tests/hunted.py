"""Searches over servers whose figures are invented."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from swept import LAUNCH, Inventing, base, quiet
from vramledger.methods.sweep.candidates import Bounds
from vramledger.methods.sweep.found import Found
from vramledger.methods.sweep.objective import OBJECTIVES
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.prices import Prices
from vramledger.methods.sweep.run import Sweep
from vramledger.methods.sweep.search import search

FEWEST = OBJECTIVES["gpus"]
GRID = Bounds.of(8, ())


def resolved(point: Point) -> dict[str, Any]:
    """A point after every default of the invented engine: 256 sequences, 2,048 tokens."""
    return {
        "tp": int(point.value("tensor-parallel-size") or 1),
        "dp": int(point.value("data-parallel-size") or 1),
        "kv_cache_dtype": point.value("kv-cache-dtype") or "auto",
        "max_num_seqs": int(point.value("max-num-seqs") or 256),
        "max_num_batched_tokens": int(point.value("max-num-batched-tokens") or 2048),
        "model": "m",
        "gpu": "g",
        "engine_version": "0.32",
        "replicas": 1,
    }


def server(best_seqs: int, best_tokens: int, need: float) -> Callable[[Point], dict[str, Any]]:
    """A server with one peak of capacity over each setting, that keeps the contract with enough of it."""

    def figures(point: Point) -> dict[str, Any]:
        row = resolved(point)
        off = abs(row["max_num_seqs"].bit_length() - best_seqs.bit_length())
        off += abs(row["max_num_batched_tokens"].bit_length() - best_tokens.bit_length())
        each = row["tp"] ** 0.8 * (1.3 if row["kv_cache_dtype"] == "fp8" else 1.0) * 0.9**off
        capacity = row["dp"] * each
        gpus = row["tp"] * row["dp"]
        good = 1000 * min(capacity / need, 1.0)
        return {
            **row,
            "gpus": gpus,
            "verdict": "PASS" if capacity >= need else "FAIL",
            "no_hits_goodput_per_hour": good,
            "no_hits_goodput_per_gpu_hour": good / gpus,
            "no_hits_e2e_p95_s": 1 / capacity,
            "no_hits_ttft_p95_s": 0.5,
        }

    return figures


def found_by(
    figures: Callable[[Point], dict[str, Any]], folder: Path, bounds: Bounds = GRID, **more: Any
) -> tuple[Found, list[Point]]:
    workers = Inventing(figures)
    with Sweep(base(folder, LAUNCH, "ttft p95 <= 2"), workers) as sweep:
        objective, prices = more.get("objective", FEWEST), more.get("prices", Prices({}))
        return search(sweep, bounds, objective, quiet, prices), workers.asked
