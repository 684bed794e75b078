"""Ports, and what processes on several GPUs or machines say to each other."""

from collections.abc import Mapping
from typing import Final

from vramledger.diagnose.startup.error import Facts, Said, number, plain, row
from vramledger.diagnose.told import Change

_LAST_PORT: Final = 65535
_USUAL: Final = {
    "vllm": 8000,
    "sglang": 30000,
    "llama.cpp": 8080,
    "TensorRT-LLM": 8000,
    "TGI": 3000,
    "LMDeploy": 23333,
}


def _port(groups: Mapping[str, str], facts: Facts) -> Said:
    port = (
        number(groups.get("port"))
        or number(groups.get("port2"))
        or number(groups.get("port3"))
        or facts.setting("port")
    )
    known = port if port is not None and 0 < port < _LAST_PORT else None
    named = f"Port {known:.0f} is" if known else "The port is"
    wanted = int(known or _USUAL.get(facts.engine or "", 8000)) + 1
    return Said(
        f"{named} taken by another process, often an earlier server that has not ended.",
        () if known else ("The line does not say which port; the engine's usual one is assumed.",),
        Change(f"--port {wanted}", "port", str(wanted)),
        ("Who has it: ss -ltnp says.",),
    )


ROWS: Final = (
    row(
        "S70", "port-in-use",
        r"(?:\[Errno 98\]|\[Errno 48\]|EADDRINUSE|[Aa]ddress already in use|couldn't bind (?:to )?(?:HTTP )?server socket|[Pp]ort (?P<port3>\d+) is (?:already )?(?:in use|occupied|not available))"
        r"(?:.*?\('[\d.:\w]*', (?P<port>\d+)\)|.*?(?:port: ?|:)(?P<port2>\d{2,5})\b)?",
        _port,
        "ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use",
        "OSError: [Errno 98] Address already in use",
        "main: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080",
        cues=("errno 98", "errno 48", "eaddrinuse", "already in use", "couldn't bind", "is already occupied", "is in use", "is not available"), rank=0,
    ),
    row(
        "S71", "processes-cannot-meet",
        r"Watchdog caught collective operation timeout|The client socket has (?:timed out|failed)|Socket Timeout|ncclRemoteError|connection closed by remote peer|Connection (?:reset|refused).{0,40}(?:nccl|gloo|peer)|Gloo connect.*?failed|"
        r"no valid network interface|Bootstrap : no socket interface found|DistNetworkError|DistStoreError",
        plain("The workers cannot reach each other: a wrong network interface, a firewall between the machines, or one of them has died.", "NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME of the interface between the machines; NCCL_DEBUG=INFO shows which one is taken"),
        "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (10.0.0.1, 29500).",
        cues=("watchdog caught", "client socket", "socket timeout", "ncclremoteerror", "remote peer", "connection reset", "connection refused", "gloo connect", "network interface", "socket interface", "distnetworkerror", "diststoreerror"), rank=2,
    ),
    row(
        "S72", "duplicate-gpu", r"Duplicate GPU detected",
        plain("Two workers were given one and the same GPU.", "give each worker a GPU of its own (CUDA_VISIBLE_DEVICES, or a smaller --tensor-parallel-size)"),
        "torch.distributed.DistBackendError: NCCL error in: ncclInvalidUsage. Last error: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000",
        cues=("duplicate gpu",), rank=0,
    ),
    row(
        "S73", "nccl",
        r"(?P<what>nccl(?:Unhandled(?:Cuda)?Error|SystemError|InternalError|InvalidUsage|InvalidArgument)|NCCL (?:error|WARN .*(?:failed|failure|error))|unhandled (?:cuda|system) error)",
        plain("The GPUs cannot talk to each other through NCCL ({what}).", "NCCL_DEBUG=INFO shows where it fails; NCCL_P2P_DISABLE=1 gets round a broken peer path between the cards"),
        "RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:77, unhandled system error, NCCL version 2.27.3 ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
        cues=("nccl", "unhandled cuda error", "unhandled system error"), rank=2,
    ),
    row(
        "S74", "custom-all-reduce", r"custom_all_reduce.*?(?:Error|failed|invalid argument)|custom allreduce.{0,60}(?:fail|error)|peer access is not supported",
        plain("The engine's own exchange between GPUs does not work on this machine.", "", "disable-custom-all-reduce"),
        "RuntimeError: custom_all_reduce.cuh:455 'invalid argument' peer access is not supported between these two devices",
        cues=("custom_all_reduce", "custom allreduce", "peer access"), rank=1,
    ),
)  # fmt: skip
