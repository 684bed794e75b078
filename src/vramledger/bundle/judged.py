"""The verdict of `accept` on the runs of a bundle, from nothing but what lies in it."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.bundle.contents import PLAN, Placed, challenge_of
from vramledger.bundle.loads import load_of, outside
from vramledger.errors import BadInput, VramError
from vramledger.record.durable import file_sha256

if TYPE_CHECKING:
    from vramledger.accept.beside import Beside
    from vramledger.accept.verdict import Verdict
    from vramledger.plan.requirement import Requirement


def judged(
    placed: Sequence[Placed], folder: Path, decided: Collection[str] = ()
) -> tuple[dict[str, Any] | None, str | None]:
    """As ``vram accept --json`` prints it; None with the reason where the runs cannot be judged so."""
    from vramledger.accept.verdict_json import verdict_json

    verdict, why = by_plan(placed, folder, decided)
    if verdict is None:
        return None, why
    found = json.dumps(verdict_json(verdict)).replace(f"{folder}/", "")
    whole: dict[str, Any] = json.loads(found)
    return whole, None


def by_plan(
    placed: Sequence[Placed], folder: Path, decided: Collection[str] = ()
) -> "tuple[Verdict | None, str | None]":
    """What `accept` says of the runs; None with the reason where they cannot be judged so.

    Nothing outside the bundle is opened, whatever the plan names: not the model either, so what its checkpoint is stored in counts
    as unknown.

    Args:
        placed: one run a scenario.
        folder: the bundle.
        decided: scenarios that a series decides, which need no run beside it.
    """
    from dataclasses import replace

    from vramledger.accept.judge import judge

    if not (folder / PLAN).is_file():
        return None, "the runs were made without a plan"
    try:
        plan = _plan(folder)
        verdict = judge([each.run for each in placed], plan, _beside(placed, plan, folder))
    except VramError as error:
        return None, str(error).replace(f"{folder}/", "")
    except (AttributeError, KeyError, TypeError, ValueError):
        return None, "a run has no record of a trial"
    rest = [e for e in verdict.scenarios if e.run is not None or e.name not in decided]
    if not rest:
        return None, "every scenario is decided by its series"
    return replace(verdict, scenarios=tuple(rest)), None


def _plan(folder: Path) -> "Requirement":
    from vramledger.plan.read import parse_plan

    names = outside(folder)
    if names:
        raise BadInput(f"{PLAN} names {names[0]}, which this bundle does not hold.")
    try:
        text = (folder / PLAN).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{PLAN} is no text in UTF-8.") from None
    return parse_plan(text, str(folder / PLAN))


def _beside(placed: Sequence[Placed], plan: "Requirement", folder: Path) -> "Beside":
    """Evidence of quality and the loads that the plan names; of a run that answers a challenge, the load that it drew."""
    from dataclasses import replace

    from vramledger.accept.beside import read_beside

    found = read_beside(replace(plan, model="", source=str(folder / PLAN)))
    return replace(found, stored=None, workloads=_workloads(placed, plan, folder))


def _workloads(placed: Sequence[Placed], plan: "Requirement", folder: Path) -> Mapping[str, str]:
    stated = {
        each.name: file_sha256(folder / each.recorded.file)
        for each in plan.scenarios
        if each.recorded is not None and each.recorded.file.endswith(".parquet")
    }
    for each in placed:
        challenge, name = challenge_of(each.run) or {}, each.run.description.scenario
        drawn = str(challenge.get("workload_sha256"))
        of_it = name in stated and challenge.get("source_sha256") == stated[name]
        if of_it and load_of(folder, drawn) is not None:
            stated[str(name)] = drawn
    return stated
