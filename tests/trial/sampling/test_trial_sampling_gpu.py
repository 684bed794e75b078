"""GPU rows: through a stand-in for the driver's library, from an exporter's page, from a Prometheus server."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from metrics_samples import served
from nvml_stand_in import built_nvml
from vramledger.record.samples import GpuSample, MetricKind, Sample
from vramledger.trial.sampling.dcgm import DcgmPage
from vramledger.trial.sampling.prometheus import PrometheusServer
from vramledger.trial.sampling.source import Clock, Missed
from vramledger.trial.sampling.target import Target
from vramledger.units import MIB

READ = """
import json, sys, time
from vramledger.errors import CannotKnow
from vramledger.trial.sampling.gpu import gpu_source
uuids = json.loads(sys.argv[1])
source = gpu_source(uuids, ours=lambda: {42})
if isinstance(source, CannotKnow):
    print(json.dumps({"error": str(source), "code": source.exit_code}))
    raise SystemExit
from vramledger.trial.sampling.source import Clock
clock = Clock(time.monotonic_ns())
taken = [source.take(clock) for _ in range(2)]
names = [n for n in dir(taken[0].rows[0]) if not n.startswith("_")]
print(json.dumps({
    "rows": [{n: getattr(row, n) for n in names} for row in taken[1].rows],
    "events": [[e.name, e.details] for e in taken[1].events],
    "levels": dict(taken[1].levels), "uuids": source.uuids, "driver": source.driver,
}))
source.close()
"""
LABELS = 'gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100 80GB HBM3",Hostname="g1"'
DCGM = f"""\
# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).
# TYPE DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_SM_CLOCK{{{LABELS}}} 1755
DCGM_FI_DEV_GPU_TEMP{{{LABELS}}} 61
DCGM_FI_DEV_POWER_USAGE{{{LABELS}}} 351.5
DCGM_FI_DEV_GPU_UTIL{{{LABELS}}} 75
DCGM_FI_DEV_FB_FREE{{{LABELS}}} 70000
DCGM_FI_DEV_FB_USED{{{LABELS}}} 10000
DCGM_FI_DEV_FB_RESERVED{{{LABELS}}} 551
DCGM_FI_DEV_XID_ERRORS{{{LABELS}}} 0
DCGM_FI_DEV_CLOCKS_EVENT_REASONS{{{LABELS}}} 4
DCGM_FI_DEV_FB_USED{{{LABELS.replace("GPU-a", "GPU-b")}}} 500
DCGM_FI_DEV_FB_USED{{{LABELS},GPU_I_ID="3"}} 7
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_nvml(tmp_path_factory.mktemp("nvml"))


def read(library: Path, *uuids: str, **environment: str) -> dict[str, Any]:
    result = subprocess.run(
        [sys.executable, "-c", READ, json.dumps(uuids)],
        env={**os.environ, "LD_LIBRARY_PATH": str(library), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_everything_the_driver_tells_is_in_the_row(library: Path) -> None:
    found = read(library, FAKE_NVML_SENSORS="1", FAKE_NVML_PID="42")
    (row,) = found["rows"]
    assert row.pop("t_s") > 0
    assert row == {
        "gpu_uuid": "GPU-1",
        "used_bytes": 1 << 30,
        "free_bytes": (81559 - 551 - 1024) << 20,
        "reserved_bytes": 551 << 20,
        "ours_bytes": 5 << 30,
        "utilization": 0.75,
        "power_w": 351.5,
        "temperature_c": 61.0,
        "sm_clock_mhz": 1755.0,
        "throttle": "power_cap,bit_9",
    }
    assert (found["driver"], found["uuids"]) == ("580.65.06", ["GPU-1"])
    assert found["levels"] == {"gpu_used_bytes": float(1 << 30)}
    assert found["events"] == []


def test_what_the_driver_does_not_tell_is_unknown_and_not_zero(library: Path) -> None:
    (row,) = read(library, FAKE_NVML_OLD="1")["rows"]
    unknown = {name for name, value in row.items() if value is None}
    assert unknown == {
        "reserved_bytes", "ours_bytes", "utilization", "power_w", "temperature_c", "sm_clock_mhz",
        "throttle",
    }  # fmt: skip


def test_memory_of_the_servers_own_processes_is_unknown_where_none_is_seen(library: Path) -> None:
    (row,) = read(library, FAKE_NVML_SENSORS="1", FAKE_NVML_PID="43")["rows"]
    assert row["ours_bytes"] is None


def test_slices_have_rows_beside_their_gpu(library: Path) -> None:
    found = read(library, FAKE_NVML_SLICE="NVIDIA H100 80GB HBM3 MIG 1g.10gb")
    assert found["uuids"] == ["GPU-1", "MIG-1", "MIG-2"]


def test_some_gpus_can_be_picked(library: Path) -> None:
    assert read(library, "GPU-2", FAKE_NVML_COUNT="3")["uuids"] == ["GPU-2"]
    assert read(library, "GPU-9") == {
        "error": "NVML shows no GPU of that kind on this machine.",
        "code": 3,
    }


def test_new_errors_of_the_memory_are_told(library: Path) -> None:
    found = read(library, FAKE_NVML_SENSORS="1", FAKE_NVML_ECC="1")
    assert found["events"] == [
        ["gpu_ecc_errors", {"gpu": "GPU-1", "corrected": 1, "uncorrected": 0}]
    ]


def test_a_machine_without_a_driver_says_so(library: Path) -> None:
    found = read(library, FAKE_NVML_INIT="9")
    assert found == {
        "error": "The GPUs of this machine cannot be read: NVML says Driver Not Loaded.",
        "code": 3,
    }


def test_an_exporters_page_has_the_same_rows() -> None:
    with served({"/metrics": DCGM}) as server:
        source = DcgmPage(Target("gpu", f"{server.url}/metrics"))
        first, other, piece = source.take(Clock(time.monotonic_ns())).rows
        source.close()
    assert first == GpuSample(
        first.t_s, "GPU-a", 10000 * MIB, 70000 * MIB, 551 * MIB, None, 0.75, 351.5, 61.0, 1755.0,
        "power_cap",
    )  # fmt: skip
    assert other == GpuSample(first.t_s, "GPU-b", 500 * MIB)
    assert piece == GpuSample(first.t_s, "GPU-a/3", 7 * MIB)


def test_an_exporters_gpus_can_be_picked_and_must_be_there() -> None:
    with served({"/metrics": DCGM}) as server:
        some = DcgmPage(Target("gpu", f"{server.url}/metrics"), ["GPU-b"])
        assert len(some.take(Clock(0)).rows) == 1
        some.close()
        none = DcgmPage(Target("gpu", f"{server.url}/metrics"), ["GPU-z"])
        with pytest.raises(Missed, match="its page has no figure of a GPU that was asked for"):
            none.take(Clock(0))
        none.close()


def test_an_error_that_the_exporter_shows_anew_is_told() -> None:
    with served({"/metrics": DCGM}) as server:
        source = DcgmPage(Target("gpu", f"{server.url}/metrics"))
        assert source.take(Clock(0)).events == ()
        server.pages["/metrics"] = DCGM.replace(
            f"XID_ERRORS{{{LABELS}}} 0", f"XID_ERRORS{{{LABELS}}} 79"
        )
        (event,) = source.take(Clock(0)).events
        source.close()
    assert (event.name, event.details) == ("gpu_xid", {"gpu": "GPU-a", "xid": 79})


class Prometheus:
    """Answers like a Prometheus server, whatever is asked."""

    def __init__(self, result: Any) -> None:
        self.body = json.dumps({"status": "success", "data": {"result": result}})

    def get(self, path: str) -> str | None:
        return self.body if path.startswith("/api/v1/query?query=") else None


def series(name: str, *values: tuple[float, str], **labels: str) -> dict[str, Any]:
    return {"metric": {"__name__": name, **labels}, "values": [list(value) for value in values]}


def test_a_prometheus_servers_samples_keep_their_own_moments() -> None:
    result = [
        series("DCGM_FI_DEV_FB_USED", (900.0, "1"), (1005.0, "10"), (1010.0, "20"), UUID="GPU-a"),
        series("DCGM_FI_DEV_GPU_UTIL", (1010.0, "50"), UUID="GPU-a"),
        series("vllm:num_requests_running", (1007.5, "4"), engine="0"),
        series("vllm:num_preemptions_total", (1007.5, "NaN"), engine="0"),
    ]
    with served({}) as server:
        server.pages = Prometheus(result)  # type: ignore[assignment]
        source = PrometheusServer(
            Target("prom", server.url), 'job="x"', engine=True, wall=lambda: 1000.0
        )
        clock = Clock(time.monotonic_ns() - 5 * 10**9)  # second 0 was 995 s after 1970
        before_s = clock.now_s()
        rows = source.take(clock).rows
        took_s = clock.now_s() - before_s
        again = source.take(clock).rows
        asked = server.asked[0][1]
    earlier, later = (row for row in rows if isinstance(row, GpuSample))
    assert earlier == GpuSample(earlier.t_s, "GPU-a", 10 * MIB)
    assert later == GpuSample(later.t_s, "GPU-a", 20 * MIB, utilization=0.5)
    assert before_s + 5 <= earlier.t_s <= before_s + 5 + took_s
    assert later.t_s - earlier.t_s == pytest.approx(5, abs=1e-6)
    running, preemptions = (row for row in rows if isinstance(row, Sample))
    assert (running.name, running.value, running.kind) == ("running", 4.0, MetricKind.GAUGE)
    assert running.t_s - earlier.t_s == pytest.approx(2.5, abs=1e-6)
    assert running.labels == '{"engine":"0"}'
    assert (preemptions.value, preemptions.kind) == (None, MetricKind.COUNTER)
    assert again == ()
    assert "job%3D%22x%22" in asked


@pytest.mark.parametrize("body", ["{}", "[1]", '{"data": {"result": [{"values": [[1]]}]}}', "x"])
def test_another_servers_answer_is_no_prometheus_answer(body: str) -> None:
    with served({}) as server:
        answering = Prometheus([])
        answering.body = body
        server.pages = answering  # type: ignore[assignment]
        with pytest.raises(Missed, match="its answer is none of Prometheus' API"):
            PrometheusServer(Target("prom", server.url)).take(Clock(0))
