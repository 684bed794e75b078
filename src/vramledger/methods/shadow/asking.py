"""Every prompt to its server, some at a time, until all have ended or somebody interrupts."""

from collections.abc import Callable, Sequence
from threading import Condition, Thread
from typing import Final

from vramledger.methods.shadow.answer import Answer
from vramledger.methods.shadow.prompts import Prompt
from vramledger.methods.shadow.side import Side, Style

Ended = Callable[[], None]
_PATIENCE_S: Final = 0.3  # for threads whose connections were just closed


class Asking:
    """Requests to one server under way, `at_once` at a time; answers come by the place of the prompt in the list.

    They wait in threads that do not keep the program alive: a server that hangs holds nobody up.
    """

    def __init__(
        self, side: Side, prompts: Sequence[Prompt], style: Style, at_once: int, ended: Ended
    ) -> None:
        self._side, self._prompts, self._style, self._ended = side, prompts, style, ended
        self._answers: list[Answer | None] = [None] * len(prompts)
        self._next = 0
        self._stopped = False
        self._error: Exception | None = None
        self._changed = Condition()
        self._running = min(at_once, len(prompts))
        for _ in range(self._running):
            Thread(target=self._work, name="shadow", daemon=True).start()

    def wait(self) -> None:
        """Until every prompt has its answer.

        Raises:
            Exception: what an answer could not be made of.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._running)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Send no more and cut what is under way, which then counts as not asked."""
        with self._changed:
            self._stopped = True
        self._side.cut()
        with self._changed:
            self._changed.wait_for(lambda: not self._running, _PATIENCE_S)

    def answers(self) -> list[Answer | None]:
        """None where a request was not sent or has not ended."""
        with self._changed:
            return list(self._answers)

    def _work(self) -> None:
        try:
            while (place := self._taken()) is not None:
                self._keep(place, self._side.answer(self._prompts[place], self._style))
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            self._error = error
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _taken(self) -> int | None:
        """The place of the next prompt."""
        with self._changed:
            if self._stopped or self._next >= len(self._prompts):
                return None
            self._next += 1
            return self._next - 1

    def _keep(self, place: int, answer: Answer) -> None:
        with self._changed:
            if self._stopped and not answer.ok:
                return  # cut by us, and no failure of the server
            self._answers[place] = answer
        self._ended()


def ask_all(askings: Sequence[Asking], meanwhile: Callable[[], None]) -> bool:
    """Wait for all of them; whether they came to their end, and were not interrupted by Ctrl-C.

    `meanwhile` is done while the servers work.
    """
    try:
        meanwhile()
        for each in askings:
            each.wait()
    except KeyboardInterrupt:
        return False
    else:
        return True
    finally:
        for each in askings:
            each.stop()
