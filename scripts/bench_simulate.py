"""Requests simulated a second of one core: the compiled simulator beside the plain loop.

Llama-3.1-8B in bfloat16 on an H100-80GB-SXM, its KV pool from our own ledger, vLLM 0.32's defaults. A public trace
of chat requests is repeated to a million of them and its clock run faster until the pool is used to
90 % on average; a second trace with prefixes runs with prefix caching. Processor time counts, after
compilation, so that a busy machine disturbs little. Without the traces (`VRAM_TEST_DATA` or a folder
beside the checkout) both are drawn with like lengths. Exit 1 when a speed is under its limit.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vramledger.api import ledger
from vramledger.simulate.fast.load import ASKED, NEVER, Load, load_of_columns
from vramledger.simulate.fast.records import FastOutcome
from vramledger.simulate.fast.simulate import simulate_fast
from vramledger.simulate.keys import spread_prefix
from vramledger.simulate.loop import simulate
from vramledger.simulate.request import Arrival
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost, fixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DATA = os.environ.get("VRAM_TEST_DATA") or Path(__file__).parents[2] / "shared" / "data"
TRACES = Path(_DATA) / "traces"
CHAT, PREFIXES = "azure_llm_2023_conv.csv", "mooncake_conversation_trace.jsonl"
REQUESTS = 1_000_000
PLAIN = {"counting blocks": 1_500, "prefix caching": 300}  # requests that the plain loop is given
LIMITS = {"counting blocks": 500_000, "prefix caching": 30_000}  # requests a second
USED = 0.9
PIECES = 32  # blocks of 16 tokens in a recorded block of 512
# 16 GB read at 3.35 TB/s and 1 ms of host; 16 GFLOP a token and 128 KiB of cache read a token at 80 %
COST = StepCost(
    constant=fixed(6.2e6),
    prefill_tokens=fixed(24e3),
    prefill_pairs=fixed(0.8),
    decode_tokens=fixed(24e3),
    decode_context=fixed(50),
)


def engine(*, caching: bool) -> Settings:
    """The engine of the benchmark."""
    account = ledger(
        "vllm serve meta-llama/Llama-3.1-8B-Instruct", "H100-80GB-SXM", engine_version="0.32.0"
    )
    if account.pool is None:
        raise SystemExit("The ledger has no KV pool for this card.")
    return Settings(
        num_blocks=account.pool.num_blocks,
        block_size=account.pool.layout.block_size,
        token_budget=8_192,
        max_num_seqs=1_024,
        max_model_len=account.pool.max_model_len,
        prefix_caching=caching,
        async_scheduling=True,
    )


def chat() -> Load:
    """A million chat requests."""
    path = TRACES / CHAT
    if path.is_file():
        rows = np.loadtxt(path, delimiter=",", skiprows=1, dtype=str)
        moments = rows[:, 0].astype("datetime64[ns]")
        since = (moments - moments[0]).astype(np.int64)
        asked, given = rows[:, 1].astype(np.int64), rows[:, 2].astype(np.int64)
    else:
        draw, count = np.random.default_rng(1), 20_000
        since = np.sort(draw.integers(0, 3_600 * 10**9, count))
        asked = np.minimum(draw.lognormal(6.8, 0.8, count), 14_000).astype(np.int64) + 1
        given = np.minimum(draw.lognormal(4.9, 1.0, count), 1_000).astype(np.int64) + 1
    copies = -(-REQUESTS // len(since))
    period = int(since[-1]) + 180_000_000
    times = np.concatenate([since + period * copy for copy in range(copies)])[:REQUESTS]
    return load_of_columns(
        times, np.tile(asked, copies)[:REQUESTS], np.tile(given, copies)[:REQUESTS]
    )


def conversations() -> Load:
    """Long prompts of which many begin alike."""
    path = TRACES / PREFIXES
    if path.is_file():
        lines = path.read_text().splitlines()
        return _with_prefixes([json.loads(line) for line in lines])
    draw = np.random.default_rng(2)
    rows = []
    for number in range(12_000):
        length = int(min(draw.lognormal(9, 0.9), 120_000)) + 600
        shared = [int(draw.integers(0, 40)) * 1_000 + place for place in range(length // 1_500)]
        own = [50_000 + number * 300 + place for place in range(length // 512 - len(shared))]
        rows.append(
            {
                "timestamp": number * 300,
                "input_length": length,
                "output_length": int(draw.integers(1, 800)),
                "hash_ids": shared + own,
            }
        )
    return _with_prefixes(rows)


def _with_prefixes(rows: list[dict[str, Any]]) -> Load:
    asked = np.zeros(len(rows), ASKED)
    lengths = np.array([len(row["hash_ids"]) for row in rows])
    asked["cancel_after_ns"] = NEVER
    asked["arrival_ns"] = [row["timestamp"] * 1_000_000 for row in rows]
    asked["input_tokens"] = [row["input_length"] for row in rows]
    asked["output_tokens"] = [max(1, row["output_length"]) for row in rows]
    asked["prefix_length"], asked["prefix_start"] = lengths, np.cumsum(lengths) - lengths
    names = np.array([name for row in rows for name in row["hash_ids"]], np.int64)
    return Load(asked, names, PIECES)


def faster(load: Load, scale: float) -> Load:
    """The same requests with their clock run `scale` times as fast."""
    asked = load.asked.copy()
    asked["arrival_ns"] = (asked["arrival_ns"] / scale).astype(np.int64)
    return replace(load, asked=asked)


def head(load: Load, count: int) -> Load:
    """The first requests."""
    return replace(load, asked=load.asked[:count])


class Use:
    """Share of the pool in use, over time."""

    def __init__(self, usable: int) -> None:
        self.usable = usable
        self.held = self.time = 0.0

    def __call__(self, rows: "NDArray[Any]") -> None:
        lasts = (rows["end_ns"] - rows["start_ns"]).astype(float)
        self.held += float((rows["used_blocks"] * lasts).sum())
        self.time += float(lasts.sum())

    @property
    def mean(self) -> float:
        return self.held / self.time / self.usable


def rate_for_use(settings: Settings, load: Load) -> float:
    """How much faster the clock must run for the pool to be used to `USED` on average."""
    low, high = 0.05, 40.0
    some = head(load, 200_000)
    for _ in range(14):
        middle = (low * high) ** 0.5
        use = Use(settings.num_blocks - 1)
        simulate_fast(settings, faster(some, middle), COST, sink=use)
        low, high = (middle, high) if use.mean < USED else (low, middle)
    return low


@dataclass(frozen=True)
class Speed:
    """Requests a second of one core, and what was run."""

    fast: float
    plain: float
    outcome: FastOutcome
    use: float


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds, and what came out."""
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def measure(settings: Settings, load: Load, plain: int) -> Speed:
    """The compiled simulator on all requests, the plain loop on the first."""
    simulate_fast(settings, head(load, 10), COST)  # compiled now
    use = Use(settings.num_blocks - 1)
    seconds, outcome = timed(lambda: simulate_fast(settings, load, COST, sink=use))
    arrivals = [_arrival(load, row) for row in load.asked[:plain]]
    plain_seconds, _ = timed(lambda: simulate(settings, arrivals, COST))
    return Speed(len(load.asked) / seconds, plain / plain_seconds, outcome, use.mean)


def _arrival(load: Load, row: Any) -> Arrival:
    start = int(row["prefix_start"])
    names = load.prefix[start : start + int(row["prefix_length"])]
    return Arrival(
        int(row["arrival_ns"]),
        int(row["input_tokens"]),
        int(row["output_tokens"]),
        spread_prefix(tuple(int(name) for name in names), load.pieces, 1),
    )


def report(kind: str, load: Load, speed: Speed) -> bool:
    """Print one line of speeds and one of what they are made of; whether the limit is kept."""
    requests = speed.outcome.requests
    count = len(requests)
    kept = speed.fast >= LIMITS[kind]
    verdict = "limit" if kept else "UNDER the limit"
    print(
        f"{kind:16} {speed.fast:12,.0f} requests/s, {verdict} {LIMITS[kind]:,}; plain loop "
        f"{speed.plain:7,.0f}: {speed.fast / speed.plain:6,.0f}x"
    )
    blocks = load.asked["input_tokens"].mean() / 16
    print(
        f"{'':16} {count:,} requests, pool used {speed.use:.0%}, "
        f"{requests['preemptions'].sum():,} preemptions, {speed.outcome.step_count / count:.1f} steps "
        f"and {blocks:.0f} prompt blocks a request; {1e9 / speed.fast:,.0f} ns a request, "
        f"{1e9 * count / speed.fast / speed.outcome.step_count:,.0f} ns a step"
    )
    return kept


def main() -> int:
    where = "public traces" if (TRACES / CHAT).is_file() else "drawn loads (no traces here)"
    print(f"Simulated requests of {where}; load average {os.getloadavg()[0]:.1f}.")
    fine = True
    for kind, load, caching in (
        ("counting blocks", chat(), False),
        ("prefix caching", conversations(), True),
    ):
        settings = engine(caching=caching)
        scaled = faster(load, rate_for_use(settings, load))
        fine &= report(kind, scaled, measure(settings, scaled, PLAIN[kind]))
    print(
        "Counting is limited by steps and by requests that come and go (rows of memory touched once), "
        "following blocks by the memory that each block of a prompt touches."
    )
    print(f"{'memory':16} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:6.2f} GiB")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
