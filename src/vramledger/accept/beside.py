"""What a plan names beside itself: the workload's hash, the evidence of quality. Read here, so that judging reads runs alone."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from vramledger.frozen import frozen
from vramledger.plan.requirement import Requirement
from vramledger.record.durable import file_sha256

_PARQUET: Final = ".parquet"


@frozen
class Beside:
    """`workloads` maps a scenario to the SHA-256 of the workload that the plan states for it, where that is a file here."""

    workloads: Mapping[str, str] = field(default_factory=dict)


def read_beside(plan: Requirement) -> Beside:
    """Of a plan that was read from a file."""
    folder = Path(plan.source).parent
    hashes = {}
    for scenario in plan.scenarios:
        if scenario.recorded is None:
            continue
        path = folder / scenario.recorded.file
        if path.suffix.casefold() == _PARQUET and path.is_file():
            hashes[scenario.name] = file_sha256(path)
    return Beside(hashes)
