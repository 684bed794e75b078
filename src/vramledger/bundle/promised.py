"""Whether the runs were held to what the plan in the bundle promises."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.bundle.check import Check, fails, holds, unchecked
from vramledger.bundle.contents import PLAN, Placed
from vramledger.errors import VramError

if TYPE_CHECKING:
    from vramledger.plan.requirement import Contract


def contracts_are_the_plans(folder: Path, placed: Sequence[Placed]) -> Check:
    """Derive every scenario's contract from the plan anew, and compare it with the one that each run carries."""
    from vramledger.plan.promises import promises

    path = folder / PLAN
    if not path.is_file():
        return unchecked("contract", "The runs were made without a plan.")
    try:
        promised = promises(path.read_text(encoding="utf-8"), PLAN)
    except (VramError, UnicodeDecodeError) as error:
        flaw = str(error) if isinstance(error, VramError) else "It is no text in UTF-8."
        return fails("contract", f"{PLAN} is no plan that this version reads: {flaw}")
    for each in placed:
        why = _otherwise(each, promised)
        if why is not None:
            return fails("contract", f"Run {each.name} {why}.")
    return holds("contract", f"Every run was held to what {PLAN} promises for its scenario.")


def _otherwise(placed: Placed, promised: "Mapping[str, Contract]") -> str | None:
    """How a run was held to something else, as the rest of a sentence."""
    from vramledger.plan.contract_json import contract_from_json, contract_to_json

    name = placed.run.description.scenario
    if name is None or name not in promised:
        return f"is of the scenario {name!r}, which {PLAN} does not have"
    trial = (placed.run.description.model_extra or {}).get("trial")
    stated = trial.get("contract") if isinstance(trial, dict) else None
    wanted = promised[name]
    if stated is None:
        lost = f"carries no contract, and {PLAN} has one for its scenario {name}"
        return None if wanted.is_empty else lost
    try:
        if contract_from_json(stated) == wanted:
            return None
    except VramError:
        return "carries a contract that is none"
    what = _first_other(stated, contract_to_json(wanted))
    return f"was held to another {what} than {PLAN} promises for its scenario {name}"


def _first_other(stated: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The key of a contract that differs, that of a latency by its own name."""
    one, other = ({**each, **_latency(each)} for each in (stated, wanted))
    return next((key for key in other if key != "latency" and one.get(key) != other[key]), "limit")


def _latency(contract: Mapping[str, Any]) -> Mapping[str, Any]:
    found = contract.get("latency")
    return found if isinstance(found, Mapping) else {}
