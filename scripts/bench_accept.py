"""Seconds and memory of holding an hour of records at 50 requests a second against a contract, as a whole process.

Exit 1 when it takes more than 15 s or 1 GiB.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from recorded_hour import recorded

REQUESTS, PER_S = 180_000, 50.0
ROUNDS = 3
MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
sys.stderr.write(done.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20)
sys.exit(done.returncode)
"""
MOST_GIB = 1.0
MOST_S = 15.0
PLAN = """
name: an hour
model: Qwen/Qwen3-32B
workload: {input_tokens: {p50: 600, max: 30000}, output_tokens: {p50: 90, max: 2000}, requests_per_s: 49}
scenarios:
  all:
    kind: latency
    contract:
      ttft_s: [{p50: 1.0, p95: 4.0, p99: 6.0}, {input_max: 1024, p95: 2.0}, {output_min: 500, p95: 2.0}]
      itl_s: {p50: 0.05, p95: 0.1, p99: 0.2}
      e2e_s: {p95: 30}
      success: 0.99
      queue_must_drain: true
      requests_per_hour: 100000
      kv_free: 0.01
      preemptions_per_1000: 10
      memory_growth_gib_per_hour: 0.1
"""


def main() -> int:
    """Print the line; the exit code."""
    with tempfile.TemporaryDirectory(prefix="vram-bench-") as place:
        made = recorded(Path(place), REQUESTS, PER_S)
        plan = Path(place) / "plan.yaml"
        plan.write_text(PLAN, encoding="utf-8")
        words = [sys.executable, "-m", "vramledger", "accept", str(made.run), "--plan", str(plan)]
        found = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", MEASURED, *words],
                check=False, capture_output=True, text=True,
            )  # fmt: skip
            found.append((time.perf_counter() - start, float(done.stdout or "nan")))
            if done.returncode not in (0, 1, 3):
                sys.exit(f"vram accept failed: {done.stderr.strip()}")
    seconds, gib = (statistics.median(column) for column in zip(*found, strict=True))
    kept = seconds <= MOST_S and gib <= MOST_GIB
    said = "limit" if kept else "OVER the limit"
    print(f"vram accept, {REQUESTS:,} requests of an hour: {seconds:.1f} s {gib:.2f} GiB, {said} {MOST_S:g} s, {MOST_GIB:g} GiB")  # fmt: skip
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
