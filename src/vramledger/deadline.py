"""A call that may take only so long, whatever the library behind it does."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """The result of the call.

    It runs in a thread that does not keep the program alive, since one blocked in a library cannot
    be told to stop.

    Raises:
        TimeoutError: it is not done in time.
        BaseException: what the call raised.
    """
    import threading
    from concurrent.futures import Future
    from concurrent.futures import TimeoutError as FutureTimeoutError

    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - handed to the caller, whatever it is
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return future.result(seconds)
    except FutureTimeoutError:
        if future.done():
            raise
        raise TimeoutError(f"not done within {seconds:g} s") from None
