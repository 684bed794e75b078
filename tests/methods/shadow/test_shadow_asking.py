"""Questions that are asked while something else is done, and a signal in the middle of that."""

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from vramledger.methods.shadow.asking import Asking, ask_all

if TYPE_CHECKING:
    from vramledger.methods.shadow.side import Side


@dataclass(frozen=True)
class Answered:
    text: str
    ok: bool = True


class Server:
    """A side of which only the cutting of connections is asked here."""

    def __init__(self) -> None:
        self.cuts = 0

    def cut(self) -> None:
        self.cuts += 1


def asking(server: Server, count: int = 8) -> Asking[Any, Any]:
    side = cast("Side", server)
    return Asking(side, lambda n: Answered(f"answer {n}"), range(count), 3, lambda: None)


def test_answers_come_by_the_place_of_their_question() -> None:
    server, done = Server(), []
    both = [asking(server), asking(server, 2)]
    assert ask_all(both, lambda: done.append("loaded"))
    assert done == ["loaded"]
    assert both[0].answers() == [Answered(f"answer {n}") for n in range(8)]
    assert both[1].answers() == [Answered("answer 0"), Answered("answer 1")]
    assert server.cuts == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_done_meanwhile_comes_to_its_end_under_a_signal(number: signal.Signals) -> None:
    server, done = Server(), []

    def load() -> None:
        signal.raise_signal(number)
        done.append("loaded")

    before = signal.getsignal(number)
    assert not ask_all([asking(server)], load)
    assert (done, server.cuts) == (["loaded"], 1)
    assert signal.getsignal(number) is before


def test_an_error_meanwhile_ends_the_asking_and_is_raised() -> None:
    server = Server()

    def fail() -> None:
        raise ValueError("no such library")

    with pytest.raises(ValueError, match="no such library"):
        ask_all([asking(server)], fail)
    assert server.cuts == 1
