"""Compiling is told apart from simulating."""

import time
from typing import Any

import numba
import pytest
from numba.core import event

from vramledger.simulate import compiling as subject
from vramledger.simulate.compiling import compiling


def test_what_is_compiled_meanwhile_is_counted_and_nothing_after() -> None:
    compiled: Any = numba.njit(lambda x: x * 3 + 1)
    with compiling() as meanwhile:
        began = time.perf_counter()
        assert compiled(2) == 7
        took = time.perf_counter() - began
    assert 0 < meanwhile.seconds <= took
    before = meanwhile.seconds
    assert compiled(2.5) == 8.5  # compiled again for another type, after the block
    assert meanwhile.seconds == before
    with compiling() as nothing:
        assert compiled(3) == 10
    assert nothing.seconds == 0


def test_it_says_so_before_where_it_was_compiled_here_once(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Counting:
        class py_func:  # noqa: N801 - as numba names it
            __module__ = "vramledger.simulate.fast.counting.run"

    monkeypatch.setattr(subject, "CACHE", tmp_path)
    with compiling(), event.trigger_event("numba:compile", data={"dispatcher": Counting}):
        assert capsys.readouterr().err == ""  # the compiled simulator says it the first time itself
    (tmp_path / "compiled-counting").touch()
    with compiling(), event.trigger_event("numba:compile", data={"dispatcher": Counting}):
        assert capsys.readouterr().err == (
            "Compiling the simulator for this processor, which takes about a minute ...\n"
        )
