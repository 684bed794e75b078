"""Serve until a signal says stop."""

import asyncio
import gc
import signal
from collections.abc import Callable

from vramledger.errors import ExitCode
from vramledger.rehearse.server import Options, Server
from vramledger.rehearse.subject import Subject


def serve(
    subject: Subject, options: Options, *, ready: Callable[[str], None], say: Callable[[str], None]
) -> ExitCode:
    """Serve, and tell `ready` the address; ends with 130 after Ctrl-C, with 0 after SIGTERM.

    Raises:
        BadInput: the address or the file of true times cannot be had.
    """
    gc.collect()
    gc.freeze()  # what is there now stays, and need not be looked through while tokens are due
    with asyncio.Runner() as runner:
        return runner.run(_serve(subject, options, ready, say))


async def _serve(
    subject: Subject, options: Options, ready: Callable[[str], None], say: Callable[[str], None]
) -> ExitCode:
    loop = asyncio.get_running_loop()
    server = Server(subject, options, loop, say)
    try:
        address = await server.open()
        loop.add_signal_handler(signal.SIGINT, server.stop, ExitCode.INTERRUPTED)
        loop.add_signal_handler(signal.SIGTERM, server.stop, ExitCode.HOLDS)
        ready(address)
        return await server.ended
    finally:
        await server.close()
