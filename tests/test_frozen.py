"""Frozen records behave as the standard frozen dataclasses with slots do."""

import copy
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.frozen import frozen

T = TypeVar("T")


@frozen
class Point:
    """A record with every kind of field."""

    x: int
    y: int = 2
    tags: Mapping[str, str] = field(default_factory=dict, compare=False)
    hidden: str = field(default="", repr=False)
    shape: list[int] = field(default_factory=list, hash=False)

    @property
    def sum(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class StandardPoint:
    x: int
    y: int = 2
    tags: Mapping[str, str] = field(default_factory=dict, compare=False)
    hidden: str = field(default="", repr=False)
    shape: list[int] = field(default_factory=list, hash=False)


@frozen
class Derived:
    values: tuple[int, ...]
    total: int = field(init=False)

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("no values")
        object.__setattr__(self, "total", sum(self.values))


@frozen
class Counted:
    """Fields that no argument sets, with and without a factory."""

    name: str
    count: int = field(default=0, init=False)
    seen: list[str] = field(default_factory=list, init=False)


@frozen
class Named(Point):
    name: str = ""


@dataclass(frozen=True, slots=True)
class StandardNamed(StandardPoint):
    name: str = ""


@frozen
class Nothing:
    pass


@frozen
class Box(Generic[T]):
    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box)

    def __hash__(self) -> int:
        return 7


_ARGUMENTS = st.fixed_dictionaries(
    {"x": st.integers()},
    optional={
        "y": st.integers(),
        "tags": st.dictionaries(st.text(), st.text()),
        "hidden": st.text(),
        "shape": st.lists(st.integers()),
    },
)


@given(_ARGUMENTS, _ARGUMENTS)
def test_a_record_compares_hashes_and_shows_like_a_standard_dataclass(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    mine, standard = Point(**first), StandardPoint(**first)
    assert repr(mine) == repr(standard).replace("StandardPoint", "Point")
    assert (mine == Point(**second)) == (standard == StandardPoint(**second))
    assert hash(mine) == hash(standard)
    assert mine.__eq__(standard) is NotImplemented


@pytest.mark.parametrize("arguments", [(), (1, 2, {}, "", [], 5)], ids=["too few", "too many"])
def test_wrong_arguments_are_refused_by_the_name_of_the_class(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\)"):
        Point(*arguments)


@given(_ARGUMENTS, _ARGUMENTS, st.text(), st.text())
def test_a_record_that_extends_another_adds_its_fields(
    first: dict[str, Any], second: dict[str, Any], name: str, other: str
) -> None:
    mine, standard = Named(**first, name=name), StandardNamed(**first, name=name)
    assert repr(mine) == repr(standard).replace("StandardNamed", "Named")
    assert (mine == Named(**second, name=other)) == (
        standard == StandardNamed(**second, name=other)
    )
    assert mine != Point(**first)
    assert replace(mine, name=other) == Named(**first, name=other)
    assert copy.deepcopy(mine) == mine
    assert copy.deepcopy(mine).tags == mine.tags


def test_fields_that_no_argument_sets_have_their_defaults() -> None:
    first, second = Counted("a"), Counted("b")
    assert (first.count, first.seen) == (0, [])
    assert first.seen is not second.seen
    with pytest.raises(TypeError, match=r"Counted\.__init__\(\)"):
        Counted("a", 1)  # type: ignore[call-arg]


def test_nothing_of_a_record_can_be_changed() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'z'"):
        point.z = 3  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    assert not hasattr(point, "__dict__")


def test_defaults_made_anew_are_not_shared() -> None:
    first, second = Point(1), Point(1)
    assert first.tags == {}
    assert first.tags is not second.tags


def test_the_tools_of_dataclasses_take_records() -> None:
    point = Point(1, hidden="h")
    assert is_dataclass(point)
    assert [part.name for part in fields(point)] == ["x", "y", "tags", "hidden", "shape"]
    assert replace(point, y=5) == Point(1, 5, hidden="h")
    assert replace(point, y=5).sum == 6
    with pytest.raises(TypeError):
        replace(point, z=5)  # type: ignore[call-arg]


def test_records_can_be_matched_by_position() -> None:
    match Point(1, 5):
        case Point(x, y):
            assert (x, y) == (1, 5)


def test_a_record_checks_and_completes_itself_after_its_fields_are_set() -> None:
    assert Derived((1, 2)).total == 3
    assert replace(Derived((1, 2)), values=(4,)).total == 4
    with pytest.raises(ValueError, match="no values"):
        Derived(())


def test_records_without_fields_are_equal() -> None:
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())
    assert repr(Nothing()) == "Nothing()"


def test_methods_of_the_class_stay_and_generic_records_work() -> None:
    assert Box[int](1) == Box("two")
    assert hash(Box(1)) == 7


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_equal_the_record(copied: Any) -> None:
    assert copied(Derived((1, 2))) == Derived((1, 2))
