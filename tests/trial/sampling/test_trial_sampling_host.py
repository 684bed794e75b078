"""The client machine's own figures and the server's processes, from /proc or something like it."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vramledger.errors import CannotKnow
from vramledger.record.samples import Sample
from vramledger.trial.sampling import Target, sources_for
from vramledger.trial.sampling.dcgm import DcgmPage
from vramledger.trial.sampling.gpu import GpuSource
from vramledger.trial.sampling.host import HostSource
from vramledger.trial.sampling.processes import local_processes
from vramledger.trial.sampling.prometheus import PrometheusServer
from vramledger.trial.sampling.source import Clock, Missed

MEMINFO = "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\n"


def proc(folder: Path, *cpus: str) -> Path:
    (folder / "stat").write_text("".join(f"{cpu}\n" for cpu in cpus) + "intr 5\n")
    (folder / "meminfo").write_text(MEMINFO)
    (folder / "loadavg").write_text("1.50 1.00 0.50 1/100 4242\n")
    (folder / "net").mkdir(exist_ok=True)
    (folder / "net" / "sockstat").write_text("sockets: used 9\nTCP: inuse 7 orphan 0 tw 1\n")
    (folder / "net" / "snmp").write_text("Tcp: InSegs RetransSegs\nTcp: 5 3\n")
    return folder


def figures(source: HostSource) -> dict[str, float | None]:
    rows = source.take(Clock(0)).rows
    assert all(isinstance(row, Sample) and row.target == "client" for row in rows)
    return {row.name or "": row.value for row in rows if isinstance(row, Sample)}


def test_shares_are_those_since_the_row_before(tmp_path: Path) -> None:
    source = HostSource(proc(tmp_path, "cpu 100 0 0 900 0 0 0 0", "cpu0 50 0 0 450 0 0 0 0"))
    assert "host_cpu" not in figures(source)
    proc(tmp_path, "cpu 130 0 20 950 0 0 0 0", "cpu0 95 0 0 455 0 0 0 0")
    found = figures(source)
    assert found == {
        "host_cpu": 0.5,
        "host_cpu_busiest": 0.9,
        "host_memory_used_bytes": 600 * 1024.0,
        "host_memory_total_bytes": 1000 * 1024.0,
        "host_load": 1.5,
        "host_sockets": 7.0,
        "host_tcp_retransmits": 3.0,
    }


def test_this_machine_has_these_figures() -> None:
    source = HostSource()
    figures(source)
    time.sleep(0.05)
    found = figures(source)
    assert 0 <= (found["host_cpu"] or 0) <= 1
    assert 0 < (found["host_memory_used_bytes"] or 0) < (found["host_memory_total_bytes"] or 0)


def test_a_machine_without_proc_has_a_gap(tmp_path: Path) -> None:
    with pytest.raises(Missed, match="this machine's /proc cannot be read"):
        HostSource(tmp_path).take(Clock(0))


LISTEN = """
import socket, subprocess, sys
listener = socket.create_server(("127.0.0.1", 0))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(listener.getsockname()[1], child.pid, flush=True)
try:
    sys.stdin.read()
finally:
    child.kill()
    child.wait()
"""


def test_the_processes_of_a_server_are_the_listener_and_what_it_started() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LISTEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port, child = map(int, server.stdout.readline().split())
        processes = local_processes(f"http://127.0.0.1:{port}/v1")
        assert processes is not None
        assert processes() == {server.pid, child}
        server.communicate()


def test_of_a_server_elsewhere_or_nowhere_no_process_is_known() -> None:
    assert local_processes("http://192.0.2.7:8000") is None
    assert local_processes("http://gpu-host:8000") is None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    processes = local_processes(f"http://localhost:{port}")
    assert processes is not None
    assert processes() == frozenset()


def test_a_trial_samples_the_server_and_this_machine_and_says_what_it_cannot() -> None:
    pages = [Target("target-0", "http://192.0.2.7:8000/metrics")]
    found = sources_for(pages, server="http://192.0.2.7:8000")
    assert [source.name for source in found.sources] == ["target-0", "client"]
    (why,) = found.unseen
    assert why == (
        "The GPUs are not sampled: the server is on another machine; name its DCGM exporter or a "
        "Prometheus server with --gpu-metrics."
    )


def test_gpus_elsewhere_come_from_where_they_are_to_be_had() -> None:
    page = sources_for([], gpu_metrics="http://192.0.2.7:9400/metrics").sources[-1]
    server = sources_for([], gpu_metrics="http://192.0.2.7:9090").sources[-1]
    assert isinstance(page, DcgmPage)
    assert isinstance(server, PrometheusServer)


def test_gpus_of_a_server_on_this_machine_are_read_or_the_reason_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_here(*_: object, **__: object) -> GpuSource:
        raise CannotKnow("The GPUs of this machine cannot be read: NVML says no.")

    monkeypatch.setattr("vramledger.trial.sampling.gpu.GpuSource", none_here)
    found = sources_for([], server="http://localhost:8000")
    assert found.unseen == (
        (
            "The GPUs are not sampled: The GPUs of this machine cannot be read: NVML says no. Where they are seen elsewhere, name "
            "a DCGM exporter or a Prometheus server with --gpu-metrics."
        ),
    )
