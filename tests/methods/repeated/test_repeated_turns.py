"""Which run comes when, and what a folder of them holds."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.methods.repeated.series import SCHEMA, Series, opened, read_series, write_series
from vramledger.methods.repeated.turns import Order, Side, turns

ASKED = Series(3, 5, Order.ABBA, {"url_a": "http://a", "cold": False})


def test_servers_take_turns() -> None:
    assert [each.name for each in turns(2, 0, None)] == ["run-001", "run-002"]
    order = "".join(str(each.side) for each in turns(4, 0, Order.ABAB))
    assert order == "abababab"
    assert "".join(str(each.side) for each in turns(4, 0, Order.ABBA)) == "abbaabba"
    assert turns(1, 7, Order.ABAB)[1].name == "run-001-b"


@given(st.integers(2, 40), st.integers(0, 1000), st.sampled_from([None, *Order]))
def test_every_pair_is_whole_and_longer_series_begin_alike(
    times: int, seed: int, order: Order | None
) -> None:
    found = turns(times, seed, order)
    sides = (None,) if order is None else (Side.A, Side.B)
    assert {(each.number, each.side) for each in found} == {
        (number, side) for number in range(1, times + 1) for side in sides
    }
    assert {each.seed for each in found} == set(range(seed, seed + times))
    assert turns(times + 3, seed, order)[: len(found)] == found


def test_a_drawn_order_has_no_pattern() -> None:
    first = [each.side for each in turns(400, 1, Order.DRAWN)][::2]
    assert 140 < sum(side is Side.A for side in first) < 260


def test_a_series_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    write_series(folder, {"schema": SCHEMA, "asked": ASKED.to_json()})
    assert read_series(folder) == ASKED
    assert opened(folder, Series(9, 5, Order.ABBA, ASKED.options)).times == 9
    for asked, said in (
        (Series(3, 6, Order.ABBA, ASKED.options), "with --seed 5, and now it is 6"),
        (Series(3, 5, Order.ABBA, {**ASKED.options, "cold": True}), "with --cold False, and now it is True"),
        (Series(3, 5, None, ASKED.options), "with --order abba, and now it is of one server"),
    ):  # fmt: skip
        with pytest.raises(BadInput) as raised:
            opened(folder, asked)
        assert str(raised.value) == (
            f"{folder} holds repetitions {said}; ask for the same, or name a folder that is not there yet."
        )
    with pytest.raises(BadInput) as raised:
        opened(folder, Series(2, 5, Order.ABBA, ASKED.options))
    assert str(raised.value) == (
        f"{folder} was begun for 3 repetitions; ask for as many, or for more."
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "x", "asked": {}}', '{"schema": "vramledger.repeat/1", "asked": 1}']
)  # fmt: skip
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "repeat.json").write_text(text)
    with pytest.raises(BadInput) as raised:
        read_series(tmp_path)
    assert (
        str(raised.value)
        == f"{tmp_path}/repeat.json is none that vram wrote; use an unchanged copy."
    )


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(BadInput) as raised:
        opened(tmp_path, ASKED)
    assert (
        str(raised.value)
        == f"{tmp_path} holds something already; name a folder that is not there yet."
    )
    with pytest.raises(BadInput, match=r"has no repeat\.json"):
        read_series(tmp_path)
