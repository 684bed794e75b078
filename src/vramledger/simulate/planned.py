"""A plan as one deployment to simulate: its launch, its workload, the contract of a scenario."""

from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.named_file import read_text
from vramledger.plan.read import read_plan
from vramledger.plan.requirement import Contract, Kind, Requirement, Scenario
from vramledger.yaml_nodes import MOST_CHARACTERS
from vramledger.yaml_text import parse_yaml

_ENDINGS: Final = (".yaml", ".yml")
_KEYS: Final = frozenset({"model", "workload"})
_STORED: Final = ".parquet"


@frozen
class Planned:
    """What a plan says of one simulation; `workload` is None where it names no stored one."""

    command: tuple[str, ...]
    version: str | None
    accelerators: tuple[Accelerator, ...]
    workload: Path | None
    rate_scale: float
    scenario: str
    contract: Contract
    headroom: float | None = None  # share of the KV pool to keep free; None: by kind
    kind: Kind = Kind.LATENCY


def is_plan(text: str) -> bool:
    """Whether it names a plan file, and not a launch or another file of YAML.

    Raises:
        BadInput: the file is no YAML.
    """
    if not text.endswith(_ENDINGS) or any(blank in text for blank in " \n") or not _there(text):
        return False
    return set(_tree(text)) >= _KEYS


def planned(path: str, scenario: str | None) -> Planned:
    """The simulation of a plan's scenario; of its only one where none is named.

    Raises:
        BadInput: no sound plan, or several scenarios and none named.
        UnknownName: no scenario of that name.
        CannotKnow: another engine, or the plan asks for other weights than those stored.
    """
    requirement = read_plan(path)
    chosen = scenario_of(requirement, scenario, path)
    if requirement.weights != ("as-stored",):
        raise CannotKnow(
            f"{path} leaves the weights open ({', '.join(requirement.weights)}); choose a candidate with "
            "vram size and simulate its launch command."
        )
    recorded = chosen.recorded
    file = None if recorded is None else Path(path).parent / recorded.file
    return Planned(
        _command(requirement),
        requirement.engine.version,
        requirement.accelerators,
        file if file is not None and file.suffix == _STORED else None,
        _rate_scale(_tree(path), chosen.name),
        chosen.name,
        chosen.contract,
        chosen.headroom,
        chosen.kind,
    )


def _there(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _tree(path: str) -> dict[str, Any]:
    found = parse_yaml(read_text(Path(path), 4 * MOST_CHARACTERS, "a plan"), path).value
    return found if isinstance(found, dict) else {}


def scenario_of(requirement: Requirement, name: str | None, path: str) -> Scenario:
    """The scenario of that name; the only one where none is named.

    Raises:
        BadInput: several scenarios and none named.
        UnknownName: no scenario of that name.
    """
    by_name = {scenario.name: scenario for scenario in requirement.scenarios}
    if name is None and len(by_name) == 1:
        return requirement.scenarios[0]
    if name is None:
        raise BadInput(
            f"{path} has the scenarios {', '.join(by_name)}, and one is taken at a time; name it with "
            "--scenario."
        )
    if name not in by_name:
        raise UnknownName("scenario", name, by_name, path)
    return by_name[name]


def _command(requirement: Requirement) -> tuple[str, ...]:
    engine = requirement.engine
    if engine.name != "vllm":
        raise CannotKnow(
            f"The scheduler of {engine.name} is not simulated; vllm deployments are simulated."
        )
    words = ["vllm", "serve", requirement.model]
    if requirement.kv_dtypes[0] != "auto":
        words += ["--kv-cache-dtype", requirement.kv_dtypes[0]]
    for name, value in engine.args.items():
        words += [f"--{name}"] if value is None else [f"--{name}", value]
    return tuple(words)


def _rate_scale(tree: dict[str, Any], scenario: str) -> float:
    """The scenario's growth, else the plan's."""
    own = (tree.get("scenarios") or {}).get(scenario) or {}
    for part in (own.get("workload"), tree.get("workload")):
        if isinstance(part, dict) and part.get("rate_scale") is not None:
            return float(part["rate_scale"])
    return 1.0
