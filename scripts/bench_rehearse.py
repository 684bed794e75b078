"""How much of a core a rehearsed server takes for many streams, and how far behind its own time it gets.

Starts ``vram rehearse``, opens the streams from this process, and prints what the server itself says of its delay, beside
how long it was kept waiting for a core: where that is much, the delay is the machine's.
"""

import json
import selectors
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple
from urllib.request import urlopen

_LAUNCH: Final = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 4096"
_CARD: Final = "H100-80GB-SXM"
_PROMPT: Final = 300  # tokens; they make a step of 256 streams last about 20 ms
_TOKENS: Final = 300


def measured(streams: int) -> str:
    """A line about that many streams."""
    command = [
        sys.executable,
        "-m",
        "vramledger",
        "rehearse",
        _LAUNCH,
        "--gpu",
        _CARD,
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        if server.stdout is None:
            raise AssertionError("no pipe")
        address = server.stdout.readline().strip()
        try:
            return _line(address, server.pid, streams)
        finally:
            server.terminate()


def _line(address: str, process: int, streams: int) -> str:
    places = selectors.DefaultSelector()
    for number in range(streams):
        places.register(_opened(int(address.rpartition(":")[2]), number), selectors.EVENT_READ)
    began, before, tokens = time.monotonic(), _cpu(process), 0
    while places.get_map():
        for key, _ in places.select():
            client = key.fileobj
            data = client.recv(1 << 16) if isinstance(client, socket.socket) else b""
            tokens += data.count(b'"text":')
            if not data and isinstance(client, socket.socket):
                places.unregister(client)
                client.close()
    wall, after = time.monotonic() - began, _cpu(process)
    used, waited = after.used_s - before.used_s, after.waited_s - before.waited_s
    return (
        f"{streams:>5} streams: {tokens:,} tokens, {tokens / wall:,.0f}/s, {used / wall:.2f} of a core "
        f"({waited:.1f} of {wall:.1f} s spent waiting for one), at most {_lag(address) * 1e3:.1f} ms behind"
    )


def _opened(port: int, number: int) -> socket.socket:
    body = json.dumps(
        {"prompt": [number] * _PROMPT, "max_tokens": _TOKENS, "ignore_eos": True, "stream": True}
    ).encode()
    head = b"POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(head % len(body) + body)
    return client


class _Cpu(NamedTuple):
    """Seconds on a core, and seconds runnable without one."""

    used_s: float
    waited_s: float


def _cpu(process: int) -> _Cpu:
    fields = Path(f"/proc/{process}/schedstat").read_text(encoding="utf-8").split()
    return _Cpu(int(fields[0]) / 1e9, int(fields[1]) / 1e9)


def _lag(address: str) -> float:
    with urlopen(f"{address}/metrics") as page:  # noqa: S310 - the address this script began to serve
        lines = page.read().decode().splitlines()
    return next(
        float(line.split()[1]) for line in lines if line.startswith("vramledger:rehearsal_lag")
    )


if __name__ == "__main__":
    for count in (64, 256, 1000):
        print(measured(count))
