"""What is measured on demand, what the kernel wrote down, and the machine around."""

import os
from pathlib import Path

import pytest

from metrics_samples import served
from vramledger.errors import BadInput
from vramledger.trial.probing import measured
from vramledger.trial.probing.kernel_log import LoggedXid, logged_xids
from vramledger.trial.probing.machine import read_machine
from vramledger.trial.probing.measured import (
    AllReduce,
    all_reduce,
    disk_write_speed,
    download_speed,
)
from vramledger.units import GIB, MIB

OUTPUT = """\
# nThread 1 nGpus 2 minbytes 8 maxbytes 67108864 step: 8(factor) warmup iters: 1 iters: 20
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    14.21    0.00    0.00      0    14.05    0.00    0.00      0
        4096          1024     float     sum      -1    15.90    0.26    0.26      0    15.71    0.26    0.26      0
    67108864      16777216     float     sum      -1    412.5  162.69  162.69      0    411.9  162.92  162.92      0
# Out of bounds values : 0 OK
"""


def tool(folder: Path, script: str) -> dict[str, str]:
    path = folder / "all_reduce_perf"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_the_speed_of_a_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "_FILE", 8 * MIB)
    found = disk_write_speed(tmp_path)
    assert found.moved_bytes == 8 * MIB
    assert found.bytes_per_s > 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_none_has_no_speed(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        disk_write_speed(tmp_path / "none")
    assert str(refused.value) == (
        f"{tmp_path}/none cannot be written (No such file or directory), so its speed is not known; "
        "name another folder."
    )


def test_the_speed_of_a_download_is_that_of_the_address() -> None:
    with served({"/file": b"x" * MIB}) as server:
        found = download_speed(f"{server.url}/file")
        assert found.moved_bytes == MIB
        assert found.bytes_per_s > 0
        with pytest.raises(BadInput, match="so the speed of a download is not known"):
            download_speed(f"{server.url}/none")
    with pytest.raises(BadInput, match="is no address of a web page"):
        download_speed("file:///etc/passwd")


def test_the_links_are_measured_by_the_tool_that_is_there(tmp_path: Path) -> None:
    environment = tool(tmp_path, f"cat <<'END'\n{OUTPUT}END")
    assert all_reduce(2, environment) == AllReduce(14.21, 162.69)


def test_a_tool_that_is_absent_or_fails_is_told(tmp_path: Path) -> None:
    absent = "all_reduce_perf of NVIDIA's nccl-tests is not in the PATH"
    assert all_reduce(2, {"PATH": str(tmp_path)}) == absent
    failed = "all_reduce_perf failed; run it by itself to see why"
    assert all_reduce(2, tool(tmp_path, "echo no device; exit 1")) == failed
    assert all_reduce(2, tool(tmp_path, "echo nothing")) == failed


def test_errors_of_gpus_are_found_in_the_kernels_log(tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    log.write_text(
        "6,1,5,-;usb 1-1: new device\n"
        "3,2,6,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=77, GPU has fallen off the bus.\n"
        "3,3,7,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=77, GPU has fallen off the bus.\n"
        "3,4,8,-;NVRM: Xid (PCI:0000:af:00): 13, Graphics Exception\n"
    )
    assert logged_xids(log) == (LoggedXid("0000:3b:00", 79, 2), LoggedXid("0000:af:00", 13, 1))
    assert logged_xids(tmp_path / "none") is None


def test_a_container_and_its_limits_are_seen(tmp_path: Path) -> None:
    for name in ("proc", "sys/fs/cgroup", "dev/shm"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".dockerenv").touch()
    (tmp_path / "proc/meminfo").write_text("MemTotal: 1048576 kB\nMemAvailable: 524288 kB\n")
    (tmp_path / "proc/cpuinfo").write_text("processor : 0\nmodel name\t: Some CPU @ 2 GHz\n")
    (tmp_path / "sys/fs/cgroup/cpu.max").write_text("150000 100000\n")
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    found = read_machine(tmp_path, tmp_path)
    assert found.container
    assert found.processor == "Some CPU @ 2 GHz"
    assert (found.processors_quota, found.memory_limit_bytes) == (1.5, None)
    assert (found.memory_bytes, found.memory_available_bytes) == (GIB, GIB // 2)
    assert found.swap_bytes is None
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("1000\n")
    assert read_machine(tmp_path, tmp_path).memory_limit_bytes == 1000


def test_a_system_that_tells_nothing_is_unknown(tmp_path: Path) -> None:
    found = read_machine(tmp_path / "none", tmp_path / "none")
    assert (found.memory_bytes, found.processor, found.disk_free_bytes) == (None, None, None)
    assert not found.container
