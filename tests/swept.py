"""Short ways to make the base of a sweep, and workers that invent their answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stored_workloads import chats, stored
from vramledger.engine.read import read_launch
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.row import Row
from vramledger.plan.limit_text import contract_of
from vramledger.simulate.run import Question
from vramledger.workload.operators.prepared import Part

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
CARD = "H100-80GB-SXM"
VERSION = "0.32.0"


def quiet(_done: int, _all: int) -> None:
    """No bar."""


def base(folder: Path, launch: str = LAUNCH, *limits: str, card: str = CARD, **more: Any) -> Base:
    """A base over sixty conversations in a minute, written where there is no workload yet."""
    path = folder / "w.parquet"
    if not path.exists():
        stored(path, chats(60, span_s=60))
    read = read_launch(launch, version=VERSION)
    case = Case(read, model_of(read), accelerator_for(card), VERSION)
    contract = contract_of(limits, "--limit") if limits else None
    question = Question(case=case, part=Part(path), contract=contract, **more)
    return Base(question, limits=contract, workload_given=True)


def scaled(one: Base, rate: float) -> Base:
    """The same at another rate."""
    part = replace(one.question.part, rate_scale=rate)
    return replace(one, question=replace(one.question, part=part))


class Inventing:
    """Workers whose figures are a function of the point; they count what they are asked."""

    def __init__(self, figures: Callable[[Point], dict[str, Any]]) -> None:
        self.figures = figures
        self.asked: list[Point] = []

    def rows(self, base: Base, base_digest: str, points: Sequence[Point]) -> Iterator[Row]:
        """One row a point."""
        for point in points:
            self.asked.append(point)
            named = {"point": point.hash(base_digest), "changes": point.text}
            found = self.figures(point)
            kept = base.depth.ends and found.get("verdict") == "PASS"
            holds = bool(found.pop("slow_end_holds", True))
            verdict = {} if holds else {"verdict": "INCONCLUSIVE"}
            ends = {"slow_end": holds, **verdict} if kept else {}
            yield Row(point, {**named, "status": "simulated", **found, **ends})
