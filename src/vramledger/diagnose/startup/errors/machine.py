"""The machine: driver, compiler, disk, host memory, and who ended the process."""

from collections.abc import Mapping
from typing import Final

from vramledger.diagnose.startup.error import Facts, Said, number, plain, row
from vramledger.diagnose.told import Change
from vramledger.units import GIB, KIB


def _killed(groups: Mapping[str, str], facts: Facts) -> Said:
    """The kernel ended a process for want of host memory."""
    kib = number(groups.get("rss_kib")) or number(groups.get("rss2_kib"))
    said = (
        [f"The process held {kib * KIB / GIB:.2f} GiB of host memory when it was ended."]
        if kib
        else []
    )
    if "memcg" in " ".join(groups.values()).lower():
        said.append("The limit was that of its container (cgroup), not the machine's memory.")
    said.append(
        "This is the host's memory; no GPU setting lowers it by itself. Weights pass through it while they are loaded, and offload or swap space stays in it."
    )
    offload = facts.setting("cpu-offload-gb") or facts.setting("swap-space")
    text = (
        "--cpu-offload-gb 0 --swap-space 0"
        if offload
        else "raise the container's memory limit (docker run --memory, resources.limits.memory) above the size of the weights"
    )
    return Said(
        f"The host ran out of memory while the engine was {facts.phase}, and the kernel ended it.",
        tuple(said),
        Change(text),
    )


def _old_driver(groups: Mapping[str, str], _: Facts) -> Said:
    version = number(groups.get("found"))
    said: tuple[str, ...] = ()
    if version is not None and version >= 1000:
        said = (
            f"The driver supports CUDA up to {int(version) // 1000}.{int(version) % 1000 // 10}.",
        )
    elif groups.get("needs"):
        said = (f"The image asks for CUDA {groups['needs']} or newer.",)
    return Said(
        "The GPU's driver is older than the CUDA version that the engine was built with.",
        said,
        Change("update the GPU driver, or take the engine's image for an older CUDA version"),
    )


def _disk(_: Mapping[str, str], facts: Facts) -> Said:
    change = (
        Change("docker run --shm-size 16g (or --ipc=host)")
        if "nccl" in facts.phase
        else Change("free space where the model's cache lies, or point HF_HOME to a larger disk")
    )
    return Said(
        "A disk is full, or /dev/shm is.", (), change, ("Which of the two: df -h there says.",)
    )


ROWS: Final = (
    row(
        "S50", "killed-for-host-memory",
        r"(?P<how>oom-kill:constraint=(?P<which>\w+)).*|[Oo]ut of memory: Kill(?:ed)? process \d+ \((?P<name>[^)]*)\)(?:.*?anon-rss:(?P<rss_kib>\d+)kB)?|"
        r"(?P<how2>[Mm]emory cgroup out of memory: Kill(?:ed)? process) \d+(?:.*?anon-rss:(?P<rss2_kib>\d+)kB)?|\bOOMKilled\b|(?:[Ee]xit(?:ed)?(?: with)?(?: [Cc]ode| status)?:?\s{0,9}|status=)137\b|exit(?:ed with)? code:? ?-9\b|"
        r"(?:signal|SIGKILL)[ :(]*(?:9\b|SIGKILL)|^\s*Killed\s*$|line \d+:\s+\d+ Killed\b",
        _killed,
        "[ 8123.456] Out of memory: Killed process 4242 (VLLM::Worker_TP) total-vm:98213444kB, anon-rss:62914560kB, file-rss:120kB, shmem-rss:0kB",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-ab.scope,mems_allowed=0,oom_memcg=/docker/ab,task_memcg=/docker/ab,task=python3,pid=4242,uid=0",
        "    Reason:       OOMKilled",
        "    Exit Code:    137",
        "RuntimeError: Engine process died with exit code -9",
        cues=("oom-kill", "out of memory: kill", "oomkilled", "137", "sigkill", "killed", "code -9", "code: -9", "signal 9"), rank=0, warned=True,
    ),
    row(
        "S51", "host-memory", r"DefaultCPUAllocator: (?:can't allocate memory|not enough memory)(?:: you tried to allocate (?P<asked_bytes>\d+) bytes)?|^\s*MemoryError\b|std::bad_alloc|Cannot allocate memory",
        plain("The host has too little memory for what the engine asked of it (weights on their way to the GPU, offload, pinned buffers).", "--cpu-offload-gb 0", "cpu-offload-gb", "0"),
        "RuntimeError: [enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4294967296 bytes. Error code 12 (Cannot allocate memory)",
        cues=("defaultcpuallocator", "memoryerror", "bad_alloc", "cannot allocate memory"), rank=1,
    ),
    row(
        "S52", "driver-too-old",
        r"CUDA driver version is insufficient|NVIDIA driver on your system is too old(?: \(found version (?P<found>\d+)\))?|unsatisfied condition: cuda ?>= ?(?P<needs>[\d.]+)|forward compatibility was attempted on non supported HW|"
        r"the provided PTX was compiled with an unsupported toolchain|cudaErrorInsufficientDriver|Error 803\b|Error 804\b",
        _old_driver,
        "RuntimeError: The NVIDIA driver on your system is too old (found version 12020). Please update your GPU driver by downloading and installing a new version.",
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.9, please update your driver to a newer version, or use an earlier cuda container: unknown.",
        cues=("driver version is insufficient", "driver on your system", "unsatisfied condition", "forward compatibility", "unsupported toolchain", "insufficientdriver", "error 803", "error 804"), rank=0,
    ),
    row(
        "S53", "no-kernel-for-this-card",
        r"no kernel image is available for execution|with CUDA capability sm_(?P<has>\d+\w?) is not compatible|CUDA error: (?:invalid device function|unsupported)|not compiled with (?:CUDA|GPU) support|requires? (?:GPU with )?sm_?(?P<needs>\d+)",
        plain("The engine was built without code for this card.", "take a build of the engine that lists the card's compute capability (a newer one for new cards, an older one for old cards)"),
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
        cues=("no kernel image", "is not compatible", "invalid device function", "not compiled with", "requires gpu with sm", "requires sm", "cuda error: unsupported"), rank=0, warned=True,
    ),
    row(
        "S54", "no-gpu-seen",
        r"No CUDA GPUs are available|Found no NVIDIA driver|[Ff]ailed to infer device type|libcuda\.so\.1: cannot open shared object|could not select device driver|No GPUs? (?:was |were )?(?:found|detected)|no CUDA-capable device is detected|"
        r"Torch not compiled with CUDA enabled|NVML(?:Error)?[_: ].{0,30}(?:Not ?Found|Uninitialized)|Driver/library version mismatch",
        plain("The process sees no GPU: no driver, no GPU handed to the container, or driver and library of different versions.", "docker run --gpus all (or the device plugin's nvidia.com/gpu limit); nvidia-smi in the same container must list the GPUs"),
        "RuntimeError: No CUDA GPUs are available",
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        "Failed to initialize NVML: Driver/library version mismatch",
        cues=("no cuda gpus", "found no nvidia driver", "infer device type", "libcuda.so.1", "could not select device driver", "no gpu", "no cuda-capable", "not compiled with cuda", "nvml", "library version mismatch"), rank=0,
    ),
    row(
        "S55", "gpu-system-not-ready",
        r"system not yet initialized|Error 802\b|fabric manager",
        plain("GPUs that are joined by NVSwitch need the fabric manager, which does not run.", "systemctl start nvidia-fabricmanager, in the version of the driver"),
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized",
        cues=("not yet initialized", "error 802", "fabric manager"), rank=0,
    ),
    row(
        "S56", "gpu-fault",
        r"uncorrectable (?:NVLink|ECC) error|(?:NVRM: )?Xid \(PCI:[\w:.]+\): (?P<xid>\d+)|fallen off the bus|CUDA error: (?P<what>an illegal memory access was encountered|device-side assert triggered|unspecified launch failure|misaligned address|hardware.*)",
        plain("The GPU or a kernel on it failed; what runs on it is lost.", "start again with --enforce-eager; where it comes back, have the card tested (nvidia-smi -q, dcgmi diag)", None),
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python3, GPU has fallen off the bus.",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        cues=("uncorrectable", "xid (pci", "fallen off the bus", "illegal memory access", "device-side assert", "launch failure", "misaligned address"), rank=1, warned=True,
    ),
    row(
        "S57", "disk-full", r"No space left on device|\[Errno 28\]|disk quota exceeded|\[Errno 122\]",
        _disk,
        "OSError: [Errno 28] No space left on device: '/cache/hub/models--x--y/blobs/ab.incomplete'",
        cues=("no space left", "errno 28", "quota exceeded", "errno 122"), rank=0,
    ),
    row(
        "S58", "shared-memory",
        r"unable to (?:allocate|open|write to) shared memory|\bBus error\b|insufficient shared memory|/dev/shm.{0,60}(?:too small|No space|insufficient)|Error while creating shared memory segment",
        plain("The container's shared memory (/dev/shm) is too small for what the workers hand each other.", "docker run --ipc=host (or --shm-size 16g; in Kubernetes an emptyDir of medium Memory at /dev/shm)"),
        "torch.distributed.DistBackendError: NCCL error: Error while creating shared memory segment /dev/shm/nccl-abc (size 9637888)",
        "Bus error (core dumped)",
        cues=("shared memory", "bus error", "/dev/shm"),  # noqa: S108 - a piece of a message rank=0,
    ),
    row(
        "S59", "compiler-missing",
        r"Failed to find C compiler|Python\.h: No such file|(?:gcc|g\+\+|cc1plus|nvcc|ninja)[:'\"]* (?:command )?not found|No such file or directory: '(?P<tool>[^']*(?:gcc|nvcc|ninja))'|CUDA_HOME environment variable is not set|InductorError|torch\._inductor\.exc|LoweringException|backend='inductor' raised",
        plain("The engine compiles code at the start, and its compiler is missing or failed.", "", "enforce-eager"),
        "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.",
        "torch._inductor.exc.InductorError: CalledProcessError: Command '['/usr/bin/gcc', '/tmp/x/main.c']' returned non-zero exit status 1.",
        cues=("c compiler", "python.h", "not found", "no such file", "cuda_home", "inductor", "loweringexception"), rank=1,
    ),
    row(
        "S60", "not-permitted", r"PermissionError: \[Errno 13\]|Permission denied: '(?P<path>[^']+)'|Read-only file system",
        plain("The process may not read or write a file that it needs.", "give the server's user the right to the model's folder and the cache (HF_HOME)"),
        "PermissionError: [Errno 13] Permission denied: '/cache/hub'",
        cues=("permission", "read-only file system"), rank=1,
    ),
    row(
        "S61", "stopped-from-outside",
        r"(?:Liveness|Startup) probe failed|received signal(?: SIGTERM|[: ]+15)|SIGTERM received|Received SIGTERM|\bterminated by signal 15\b|Killing container|exceeded its startup timeout",
        plain("Somebody stopped the server before it was ready: a probe, a scheduler or a person.", "give the start more time (startupProbe.failureThreshold, or the time-out of whoever started it)"),
        "Warning  Unhealthy  2m  kubelet  Startup probe failed: HTTP probe failed with statuscode: 503",
        cues=("probe failed", "signal", "sigterm", "killing container", "startup timeout"), rank=2, any_level=True,
    ),
    row(
        "S62", "start-timed-out",
        r"Timed out waiting for engine (?:core )?processes? to start|did not (?:become ready|start) (?:within|in time)|TimeoutError: .*?engine.*?(?:start|ready)|VLLM_ENGINE_READY_TIMEOUT_S|timed out after \d+ seconds? waiting for clients",
        plain("The engine took longer to start than whoever waited for it allowed.", "VLLM_ENGINE_READY_TIMEOUT_S=1800 in the environment"),
        "TimeoutError: Timed out waiting for engine core processes to start. This is often caused by slow weight loading for large models.",
        cues=("timed out", "timeouterror", "become ready", "ready_timeout", "did not start"), rank=1,
    ),
)  # fmt: skip
