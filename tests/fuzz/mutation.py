"""Damage to sound inputs: values, structure, text and bytes."""

import copy
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

HOSTILE: Sequence[Any] = (
    None, 0, -1, 1, 2, 3, 7, 128, 65_536, 10**9, 2**31, 2**41, 2**63, 10**30, 1.5, 0.0, -0.5,
    1e308, float("nan"), float("inf"), float("-inf"), "", "x", "auto", "full_attention", "0", "\0",
    "\x1b[31m", "a\nb", "\u202e", "\ud800", "é" * 9, "x" * 5_000, [], [0], [1, 2], ["a"], [None],
    [[]], [[1], {}], {}, {"a": 1}, {"": None}, True, False,
)  # fmt: skip
Step = str | int


def places(values: Any, above: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """The path of every value in a tree of dictionaries and lists."""
    children: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(values, dict):
        children = iter(values.items())
    elif isinstance(values, list):
        children = iter(list(enumerate(values))[:40])
    for key, value in children:
        yield (*above, key)
        yield from places(value, (*above, key))


def damaged_tree(values: Any, random: Random, others: Sequence[Any] = HOSTILE) -> Any:
    """The tree with up to three values replaced, moved, scaled or dropped."""
    damaged = copy.deepcopy(values)
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        paths = list(places(damaged))
        if not paths:
            break
        path = random.choice(paths)
        parent = damaged
        for key in path[:-1]:
            parent = parent[key]
        change(parent, path[-1], random, others)
    return damaged


def change(parent: Any, key: Step, random: Random, others: Sequence[Any]) -> None:
    """One change of one value in place."""
    kind = random.choice([0, 1, 1, 1, 2, 3, 4, 5])
    value = parent[key]
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(value, int | float) and not isinstance(value, bool):
        parent[key] = random.choice(
            [
                value + 1,
                value - 1,
                value * 2,
                value // 2,
                value * 3,
                value * 64,
                -value,
                value * 10**6,
            ]
        )
    elif kind == 2 and isinstance(value, list):
        parent[key] = random.choice([value[:-1], value * 2, value[::-1], value[:1], [*value, None]])
    elif kind == 3 and len(parent) > 1:
        other = random.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
        parent[key] = copy.deepcopy(parent[other])
    else:
        parent[key] = copy.deepcopy(random.choice(others))


def damaged_text(text: str, random: Random, marks: Sequence[str], most: int = 4) -> str:
    """The text with a few pieces cut out, doubled or replaced by a mark."""
    for _ in range(random.randint(1, most)):
        at = random.randint(0, len(text))
        cut = random.choice([0, 0, 1, 1, 3, 12, 80])
        piece = random.choice([random.choice(marks), text[at : at + cut] * 2, ""])
        text = text[:at] + piece + text[at + cut :]
    return text


def damaged_bytes(content: bytes, random: Random, most: int = 6) -> bytes:
    """The bytes with some changed, a stretch dropped or doubled, or the end cut off."""
    changed = bytearray(content)
    for _ in range(random.randint(0, most)):
        if changed:
            changed[random.randrange(len(changed))] = random.choice(
                [0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)]
            )
    if random.randrange(4) == 0:
        at, length = random.randint(0, len(changed)), random.randint(0, 40)
        changed[at : at + length] = random.choice([b"", bytes(changed[at : at + length]) * 2])
    if random.randrange(4) == 0:
        del changed[random.randint(0, len(changed)) :]
    return bytes(changed)


def noise(random: Random, most: int = 200) -> bytes:
    """Bytes without any structure."""
    return random.randbytes(random.randint(0, most))
