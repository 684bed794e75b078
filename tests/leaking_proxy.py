"""A proxy in front of a server that keeps so many bytes of memory for every answer: a leak of a known size.

Run as ``python leaking_proxy.py HOST:PORT BYTES``; the first line of output is its own address.
"""

import socket
import sys
import threading
from typing import Final

_PIECE: Final = 1 << 16
_kept: list[bytearray] = []


def main() -> None:
    host, _, port = sys.argv[1].rpartition(":")
    leak = int(sys.argv[2])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        while True:
            client, _ = listener.accept()
            threading.Thread(
                target=serve, args=(client, (host, int(port)), leak), daemon=True
            ).start()


def serve(client: socket.socket, server: tuple[str, int], leak: int) -> None:
    """Carries one connection both ways."""
    with client, socket.create_connection(server) as upstream:
        back = threading.Thread(target=carry, args=(upstream, client, 0), daemon=True)
        back.start()
        carry(client, upstream, leak)
        back.join()


def carry(source: socket.socket, sink: socket.socket, leak: int) -> None:
    """Until the source ends; each request for a completion leaks."""
    try:
        while piece := source.recv(_PIECE):
            if leak and piece.startswith(b"POST /v1/c"):
                _kept.append(bytearray(b"\1") * leak)  # written, so that it is resident
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


if __name__ == "__main__":
    main()
