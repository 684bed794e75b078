"""Whether two schedulers did the same, and the smallest case in which they did not."""

from collections.abc import Callable, Iterator
from typing import Any

Case = dict[str, Any]
Answer = dict[str, Any]


def difference(ours: Answer, theirs: Answer) -> str:
    """The first step and field in which two answers differ; empty when they are alike.

    Two refusals are alike whatever their words.
    """
    if ("error" in ours) != ("error" in theirs):
        return f"refused: ours {ours.get('error')!r}, theirs {theirs.get('error')!r}"
    for number, (mine, real) in enumerate(zip(ours["steps"], theirs["steps"], strict=False)):
        for field in real:
            if mine[field] != real[field]:
                return f"step {number}, {field}: ours {mine[field]}, theirs {real[field]}"
    if len(ours["steps"]) != len(theirs["steps"]):
        return f"steps: ours {len(ours['steps'])}, theirs {len(theirs['steps'])}"
    if ours["done"] != theirs["done"]:
        return f"done: ours {ours['done']}, theirs {theirs['done']}"
    return ""


def shrunk(case: Case, differs: Callable[[Case], object]) -> Case:
    """A case that still differs (anything true tells that it does) and of which no smaller neighbour does."""
    while True:
        smaller = next((one for one in _smaller(case) if differs(one)), None)
        if smaller is None:
            return case
        case = smaller


def _smaller(case: Case) -> Iterator[Case]:
    """Neighbours of a case, the boldest first."""
    rows = case["requests"]
    for index in range(len(rows)):
        if len(rows) > 1:
            yield case | {"requests": rows[:index] + rows[index + 1 :]}
    for group in range(len(case["groups"])):
        if len(case["groups"]) > 1:
            yield case | {"groups": case["groups"][:group] + case["groups"][group + 1 :]}
    for index, row in enumerate(rows):
        for change in _smaller_request(row):
            yield case | {"requests": [*rows[:index], row | change, *rows[index + 1 :]]}
    for name in ("num_blocks", "max_num_seqs", "max_num_batched_tokens", "max_steps"):
        for value in (case[name] // 2, case[name] - 1):
            least = 2 if name == "num_blocks" else 1
            if least <= value < case[name]:
                yield case | {name: value}


def _smaller_request(row: Case) -> Iterator[Case]:
    prompt = row["prompt"]
    for length in {len(prompt) // 2, len(prompt) - 1}:
        if 1 <= length < len(prompt):
            yield {"prompt": prompt[:length]}
    for output in {row["output_len"] // 2, row["output_len"] - 1}:
        if 1 <= output < row["output_len"]:
            yield {"output_len": output}
    for arrival in {0, row["arrival_step"] - 1}:
        if 0 <= arrival < row["arrival_step"]:
            yield {"arrival_step": arrival}
    if any(prompt):
        yield {"prompt": [0] * len(prompt)}
