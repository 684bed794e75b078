"""Ctrl-C while requests are sent from the process of the command itself."""

import asyncio
import os
import random
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from vramledger.trial.client.interruptible import run_interruptibly


@pytest.fixture(autouse=True)
def _heeded() -> Iterator[None]:
    """Tests in the background of a script inherit that Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_cancels_what_runs_and_is_raised_when_its_loop_is_closed() -> None:
    ended: list[str] = []

    async def main() -> None:
        asyncio.get_running_loop().call_later(0.01, _interrupt)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append("in order")

    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(main)
    assert ended == ["in order"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("seed", range(40))
def test_no_interrupt_is_lost_and_none_breaks_the_loop(seed: int) -> None:
    """It may come while the loop is made, while it runs and while it is taken down; or after it."""

    async def main() -> None:
        await asyncio.sleep(0.002)

    def later() -> None:
        time.sleep(random.Random(seed).uniform(0, 0.008))
        _interrupt()

    sender = threading.Thread(target=later)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - whenever it comes
        sender.start()
        run_interruptibly(main)
        sender.join()
        time.sleep(0.01)
    sender.join()


def test_another_handler_of_the_signal_is_left_alone() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: seen.append(number))

    async def main() -> None:
        _interrupt()
        await asyncio.sleep(0.01)

    try:
        run_interruptibly(main)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]
