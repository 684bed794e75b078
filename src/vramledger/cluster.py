"""The door to a Ray cluster: an address, refused at once where nobody answers."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from vramledger.errors import BadInput

_ON_THIS_MACHINE: Final = "auto"
_CLIENT: Final = "ray://"
_PATIENCE_S: Final = 10.0
_NOT_READY: Final = "Initialization failure from server"


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to a cluster while the block lasts: ``auto``, ``HOST:PORT`` of its head, or ``ray://HOST:PORT``.

    Raises:
        BadInput: no cluster answers there, or Ray is not installed.
    """
    import ray

    try:
        _refuse_silence(address)
        _attach(ray, address)
    except (ConnectionError, ValueError, RuntimeError, OSError, ImportError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise BadInput(
            f"No Ray cluster answers at {address} ({said[:200]}); start one with ray start --head and "
            "give its address, or leave --ray out to use the cores here."
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _attach(ray: Any, address: str) -> None:
    """Connect; once more where the cluster's proxy had no server for a client ready, as a busy head has not.

    Raises:
        ConnectionError: it answers and takes nobody.
    """
    import logging

    for last in (False, False, True):
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except ConnectionError as error:
            if last or _NOT_READY not in str(error):
                raise
            ray.shutdown()
        else:
            return


def _refuse_silence(address: str) -> None:
    """Raise OSError where nobody listens at a host and port, for which Ray itself waits for minutes.

    Raises:
        ValueError: it is neither ``auto`` nor a host and a port.
    """
    if address == _ON_THIS_MACHINE:
        return
    host, colon, port = address.removeprefix(_CLIENT).rpartition(":")
    if not colon or not port.isdigit():
        raise ValueError("it is neither auto nor HOST:PORT")
    with socket.create_connection((host, int(port)), timeout=_PATIENCE_S):
        pass
