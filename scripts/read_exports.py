"""Have AIPerf and GuideLLM read the exports of a trial with their own readers, and hold their figures against ours.

    python scripts/read_exports.py RUN

`make peers` makes the environments. Exit code 1 when a reader refuses a file or reads another figure than the one of
`vram trial show`, of successes since they were sent; 3 when an environment is missing.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from peers.prepare import peers_home, programs

VRAM: Final = Path(sys.executable).parent / "vram"
WITHIN: Final = 1e-3  # of a figure: the summary prints microseconds

AIPERF: Final = """
import json, sys
from pathlib import Path
from aiperf.common.models.export_models import JsonExportData
from aiperf.common.models.record_models import MetricRecordInfo
from aiperf.plot.core.data_loader import DataLoader

folder = Path(sys.argv[1])
lines = (folder / "profile_export.jsonl").read_text().splitlines()
records = [MetricRecordInfo.model_validate_json(line) for line in lines]
whole = JsonExportData.model_validate_json((folder / "profile_export_aiperf.json").read_text())
loaded = DataLoader().load_run(folder)
assert len(loaded.requests) == len(records)
told = [each.metrics["time_to_first_token"].value for each in records if each.error is None]
print(json.dumps({
    "requests": len(records),
    "ok": whole.request_count.avg,
    "failed": whole.error_request_count.avg,
    "ttft_mean_s": whole.time_to_first_token.avg / 1e3,
    "ttft_mean_s of its records": sum(told) / len(told) / 1e3,
    "itl_mean_s": whole.inter_chunk_latency.avg / 1e3,
}))
"""
GUIDELLM: Final = """
import json, sys
from pathlib import Path
from guidellm.benchmark.schemas import GenerativeBenchmarksReport
from guidellm.schemas import StatusDistributionSummary

benchmark = GenerativeBenchmarksReport.load_file(Path(sys.argv[1]) / "benchmarks.json").benchmarks[0]
metrics, requests = benchmark.metrics, benchmark.requests
again = StatusDistributionSummary.from_values_function(
    function=lambda each: each.time_to_first_token_ms,
    successful=requests.successful, incomplete=requests.incomplete, errored=requests.errored,
)
rate = StatusDistributionSummary.rate_distribution_from_timings_function(
    function=lambda each: each.request_end_time,
    successful=requests.successful, incomplete=requests.incomplete, errored=requests.errored,
    start_time=benchmark.start_time, end_time=benchmark.end_time,
)
print(json.dumps({
    "requests": metrics.request_totals.total,
    "ok": metrics.request_totals.successful,
    "failed": metrics.request_totals.errored + metrics.request_totals.incomplete,
    "ttft_mean_s": metrics.time_to_first_token_ms.successful.mean / 1e3,
    "ttft_mean_s of its records": again.successful.mean / 1e3,
    "ttft_p99_s": metrics.time_to_first_token_ms.successful.percentiles.p99 / 1e3,
    "requests_per_s": metrics.requests_per_second.successful.mean,
    "requests_per_s of its records": rate.successful.mean,
}))
"""
READERS: Final = {"aiperf": AIPERF, "guidellm": GUIDELLM}


def main() -> int:
    """Export, let each read, compare, tell."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    run = Path(sys.argv[1])
    expected = ours(run)
    codes = {name: checked(name, run, expected) for name in READERS}
    return max(codes.values())


def ours(run: Path) -> dict[str, float]:
    """The figures of the trial, as it prints them itself."""
    done = subprocess.run([VRAM, "trial", "show", str(run), "--json"], capture_output=True, check=False, text=True)  # fmt: skip
    told: dict[str, Any] = json.loads(done.stdout)
    requests, sent = told["requests"], told["ok_only_from_dispatch"]["ttft_s"]
    return {
        "requests": requests["offered"],
        "ok": requests["ok"],
        "failed": requests["offered"] - requests["ok"],
        "ttft_mean_s": sent["mean"],
        "ttft_p99_s": sent["p99"],
        "itl_mean_s": told["itl_s"]["mean"],
        "requests_per_s": told["ok_requests_per_s"],
    }


def checked(name: str, run: Path, expected: dict[str, float]) -> int:
    """What one of them reads, held against ours; the exit code."""
    if programs(name) is None:
        print(f"{name}: no environment; make peers prepares it")
        return 3
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([VRAM, "trial", "export", str(run), "--format", name, "-o", folder], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        python = str(peers_home() / name / "bin" / "python")
        done = subprocess.run([python, "-W", "ignore", "-c", READERS[name], folder], capture_output=True, check=False, text=True)  # fmt: skip
    if done.returncode:
        print(f"{name} refuses the export:\n{done.stderr[-2_000:]}")
        return 1
    read = json.loads(done.stdout.splitlines()[-1])
    wrong = 0
    for figure, value in read.items():
        own = expected[figure.removesuffix(" of its records")]
        same = abs(value - own) <= WITHIN * max(abs(own), WITHIN)
        wrong += not same
        print(f"{name:10}{figure:32}{value:14.6f}{own:14.6f}{'' if same else '   differs'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
