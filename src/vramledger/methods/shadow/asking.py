"""Every prompt to its server, some at a time, until all have ended or somebody interrupts."""

from collections.abc import Callable, Sequence
from threading import Condition, Thread
from typing import Any, Final, Generic, Protocol, TypeVar

from vramledger.methods.shadow.side import Side
from vramledger.trial.conduct.interrupts import Interrupts

Ended = Callable[[], None]
_PATIENCE_S: Final = 0.3  # for threads whose connections were just closed
_LOOK_S: Final = 0.1  # how often an interruption is looked for


class Ending(Protocol):
    """How a request ended."""

    @property
    def ok(self) -> bool:
        """Whether there is an answer."""


Q = TypeVar("Q")
E = TypeVar("E", bound=Ending)


class Asking(Generic[Q, E]):
    """Questions that `ask` puts to a side, `at_once` at a time; answers come by the place of the question in the list.

    They wait in threads that do not keep the program alive: a server that hangs holds nobody up.
    """

    def __init__(
        self, side: Side, ask: Callable[[Q], E], questions: Sequence[Q], at_once: int, ended: Ended
    ) -> None:
        self._side, self._ask, self._questions, self._ended = side, ask, questions, ended
        self._answers: list[E | None] = [None] * len(questions)
        self._next = 0
        self._stopped = False
        self._error: Exception | None = None
        self._changed = Condition()
        self._running = min(at_once, len(questions))

    def start(self) -> None:
        """Begin to ask; once only."""
        for _ in range(self._running):
            Thread(target=self._work, name="shadow", daemon=True).start()

    def wait(self, interrupts: Interrupts) -> None:
        """Until every question has its answer, or a signal came.

        Raises:
            Exception: what an answer could not be made of.
        """
        with self._changed:
            while self._running and not interrupts.count:
                self._changed.wait(_LOOK_S)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Send no more and cut what is under way, which then counts as not asked."""
        with self._changed:
            self._stopped = True
        self._side.cut()
        with self._changed:
            self._changed.wait_for(lambda: not self._running, _PATIENCE_S)

    def answers(self) -> list[E | None]:
        """None where a request was not sent or has not ended."""
        with self._changed:
            return list(self._answers)

    def _work(self) -> None:
        try:
            while (place := self._taken()) is not None:
                self._keep(place, self._ask(self._questions[place]))
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            self._error = error
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def _taken(self) -> int | None:
        """The place of the next question."""
        with self._changed:
            if self._stopped or self._next >= len(self._questions):
                return None
            self._next += 1
            return self._next - 1

    def _keep(self, place: int, answer: E) -> None:
        with self._changed:
            if self._stopped and not answer.ok:
                return  # cut by us, and no failure of the server
            self._answers[place] = answer
        self._ended()


def ask_all(askings: Sequence[Asking[Any, Any]], meanwhile: Callable[[], None]) -> bool:
    """Ask and wait for all of them; whether they came to their end, and were not interrupted by Ctrl-C.

    `meanwhile` is done while the servers work, and to its end: a library that Ctrl-C breaks off while it is loaded is of no use afterwards.
    """
    with Interrupts() as interrupts:
        try:
            for each in askings:
                each.start()
            meanwhile()
            for each in askings:
                each.wait(interrupts)
        except BaseException:
            _stop(askings)
            raise
        if interrupts.count:
            _stop(askings)
        return not interrupts.count


def _stop(askings: Sequence[Asking[Any, Any]]) -> None:
    for each in askings:
        each.stop()
