"""Seconds and memory of accepting and diagnosing an hour of records at 50 requests a second, each as a whole process.

Exit 1 when one takes more than 15 s of one core or 1 GiB; the seconds that passed, which others on the machine lengthen, stand beside them.
"""

import sys
import tempfile
from pathlib import Path

from recorded_hour import recorded
from whole_process import Cost, cost_of, kept

REQUESTS, PER_S = 180_000, 50.0
ROUNDS = 3
MOST_GIB = 1.0
MOST_CORE_S = 15.0
VERDICTS = (0, 1, 3)
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


def rounds(folder: Path) -> dict[str, list[Cost]]:
    """Each verb once a round."""
    run = str(recorded(folder, REQUESTS, PER_S).run)
    plan = folder / "plan.yaml"
    plan.write_text(PLAN, encoding="utf-8")
    found: dict[str, list[Cost]] = {}
    for _ in range(ROUNDS):
        for words in (("accept", run, "--plan", str(plan)), ("diagnose", run)):
            cost = cost_of(sys.executable, "-m", "vramledger", *words, allowed=VERDICTS)
            found.setdefault(f"vram {words[0]}", []).append(cost)
    return found


def main() -> int:
    """Print the table; the exit code."""
    with tempfile.TemporaryDirectory(prefix="vram-bench-") as place:
        found = rounds(Path(place))
    print(f"{REQUESTS:,} requests of an hour, medians of {ROUNDS}")
    return 0 if kept(found, MOST_CORE_S, MOST_GIB) else 1


if __name__ == "__main__":
    sys.exit(main())
