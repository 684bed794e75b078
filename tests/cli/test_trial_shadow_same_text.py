"""Both servers read A's answers: held against what is true of little models whose every probability is known."""

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Any

import pytest

from answering_server import Scripted, answering
from commands import vram_here
from little_model_server import SIZE, LittleModel, serving

COUNT = 30
TOKENS = 16
Table = list[list[float]]


def table(seed: int, noise: float = 0.0) -> Table:
    """Random rows; with `noise` those of the seed, off by it."""
    drawn, off = random.Random(seed), random.Random(seed + 1)
    rows = [[exp(drawn.gauss(0, 2)) for _ in range(SIZE)] for _ in range(SIZE)]
    rows = [[each * exp(off.gauss(0, noise)) for each in row] for row in rows]
    return [[each / sum(row) for each in row] for row in rows]


def shadow(
    a: LittleModel, b: LittleModel, folder: Path, *more: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    prompts = folder / "own.jsonl"
    lines = [json.dumps({"prompt": f"wish number {n}"}) for n in range(COUNT)]
    prompts.write_text("\n".join(lines), encoding="utf-8")
    done = vram_here(
        ["trial", "shadow", "--a", a.url, "--b", b.url, "--prompts", "own.jsonl", "--max-tokens", str(TOKENS), "--json", *more],
        folder,
    )  # fmt: skip
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    return found, found["same_text"]


def places(a: LittleModel, *, answers: bool) -> list[tuple[int, int]]:
    """What stood before a token, and the token, of all texts: in the answers or in the prompts."""
    found: list[tuple[int, int]] = []
    for number in range(COUNT):
        prompt = a.prompt_ids(f"wish number {number}")
        answer = a.answer(prompt, TOKENS)
        found += pairwise([prompt[-1], *answer] if answers else prompt)
    return found


def kl(p: Sequence[float], q: Sequence[float]) -> float:
    return sum(x * log(x / y) for x, y in zip(p, q, strict=True))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def test_with_every_token_listed_the_figures_are_the_true_ones(tmp_path: Path) -> None:
    with serving(LittleModel(table(1))) as a, serving(LittleModel(table(1, 0.5))) as b:
        found, same = shadow(a, b, tmp_path, "--top-logprobs", str(SIZE), "--repeat-a", "0.5")
    assert (same["reason"], same["texts"], same["failed"]) == (None, COUNT, {"a": 0, "b": 0})
    for part, answers in (("answer", True), ("prompt", False)):
        where = places(a, answers=answers)
        told = same[part]
        assert told["places"] == len(where)
        true = mean([kl(a.table[last], b.table[last]) for last, _ in where])
        assert told["kl"]["value"] == pytest.approx(true, abs=1e-4)
        less = mean([log(a.table[last][own] / b.table[last][own]) for last, own in where])
        assert told["less_likely"]["value"] == pytest.approx(less, abs=1e-5)
        assert told["less_likely"]["low"] <= told["less_likely"]["value"]
        alike = mean([max(range(SIZE), key=a.table[x].__getitem__) == max(range(SIZE), key=b.table[x].__getitem__) for x, _ in where])  # fmt: skip
        assert told["same_likeliest"]["value"] == pytest.approx(alike, abs=1e-5)
        for side, model in (("a", a), ("b", b)):
            worst = exp(-mean([log(model.table[last][own]) for last, own in where]))
            assert told["perplexity"][side] == pytest.approx(worst, rel=1e-5)
    assert same["noise"]["kl"]["value"] == pytest.approx(0, abs=1e-6)
    assert same["noise"]["places"] == COUNT // 2 * TOKENS
    assert found["kl"]["value"] > 0  # up to the first difference alone


def test_with_the_likeliest_alone_the_divergence_is_bounded_from_below(tmp_path: Path) -> None:
    with serving(LittleModel(table(3))) as a, serving(LittleModel(table(3, 2.0))) as b:
        found, same = shadow(a, b, tmp_path, "--top-logprobs", "3")
        _, all_of_it = shadow(a, b, tmp_path, "--top-logprobs", str(SIZE))
    true = mean([kl(a.table[last], b.table[last]) for last, _ in places(a, answers=True)])
    answer = same["answer"]
    assert 0 < answer["kl"]["value"] <= true + 1e-6
    assert answer["kl"]["value"] <= all_of_it["answer"]["kl"]["value"]
    lower, upper = (answer["js"][name]["value"] for name in ("lower", "upper"))
    assert lower <= all_of_it["answer"]["js"]["lower"]["value"] <= upper
    assert answer["less_likely"] == all_of_it["answer"]["less_likely"]  # exact in any case
    assert answer["unlisted_mass"] > 0
    assert found["parted"] > 0
    assert answer["places"] > found["kl"]["places"]  # it goes on where answers have parted


def test_the_chosen_token_is_not_counted_twice(tmp_path: Path) -> None:
    """VLLM 0.32 tells other bytes of it beside its own number than in the list of the likeliest."""
    with serving(LittleModel(table(5))) as a, serving(LittleModel(table(5))) as b:
        found, _ = shadow(a, b, tmp_path, "--top-logprobs", "4")
    where = places(a, answers=True)
    unlisted = mean([1 - sum(sorted(a.table[last], reverse=True)[:4]) for last, _ in where])
    assert found["kl"]["unlisted_mass"] == pytest.approx(unlisted, abs=1e-5)


def test_why_nothing_is_read_is_said(tmp_path: Path) -> None:
    def same(_: str) -> Scripted:
        return Scripted([f" w{place}" for place in range(20)])

    with serving(LittleModel(table(1))) as a, serving(LittleModel(table(1), shift=1)) as b:
        _, told = shadow(a, b, tmp_path)
        assert told["reason"] == "the two read the same prompts as different tokens"
        assert told["answer"] is None
        _, told = shadow(a, a, tmp_path, "--no-same-text")
        assert told["reason"] == "it was not asked for"
        assert not any("prompt_logprobs" in body for body in (*a.asked, *b.asked))
        with answering(same) as other:
            done = vram_here(
                ["trial", "shadow", "--a", a.url, "--b", other.url, "--requests", "20"], tmp_path
            )
    assert (
        "note: What both hold of the same text is not told: vLLM alone is known to tell it, and B is an unknown engine.\n"
        in done.stdout
    )
