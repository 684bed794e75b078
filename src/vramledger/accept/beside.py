"""What a plan names beside itself: the workload's hash, the evidence of quality. Read here, so that judging reads runs alone."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.methods.shadow.evidence import Evidence, read_evidence
from vramledger.plan.requirement import Requirement
from vramledger.record.durable import file_sha256

if TYPE_CHECKING:
    from vramledger.accept.evals import Evals

_PARQUET: Final = ".parquet"


@frozen
class Beside:
    """`workloads` maps a scenario to the SHA-256 of the workload that the plan states for it, where that is a file here.

    `stored` is how the model's checkpoint itself is quantised, None where it is not, or nobody can say.
    """

    workloads: Mapping[str, str] = field(default_factory=dict)
    stored: str | None = None
    shadow: Evidence | None = None
    shadow_missing: str = ""
    evals: "Evals | None" = None
    evals_missing: str = ""


def read_beside(plan: Requirement) -> Beside:
    """Of a plan that was read from a file.

    Raises:
        BadInput: a file of evidence is there and is none.
    """
    from vramledger.accept.evals import read_evals

    folder, quality = Path(plan.source).parent, plan.quality
    shadow = None if quality.shadow is None else folder / quality.shadow
    evals = None if quality.lm_eval is None else folder / quality.lm_eval
    return Beside(
        workloads=_workloads(plan, folder),
        stored=_stored(plan.model),
        shadow=read_evidence(shadow) if shadow is not None and shadow.exists() else None,
        shadow_missing=_missing(quality.shadow, shadow),
        evals=read_evals(evals) if evals is not None and evals.exists() else None,
        evals_missing=_missing(quality.lm_eval, evals),
    )


def _workloads(plan: Requirement, folder: Path) -> dict[str, str]:
    hashes = {}
    for scenario in plan.scenarios:
        if scenario.recorded is None:
            continue
        path = folder / scenario.recorded.file
        if path.suffix.casefold() == _PARQUET and path.is_file():
            hashes[scenario.name] = file_sha256(path)
    return hashes


def _stored(model: str) -> str | None:
    """Only what is known here; nothing is fetched."""
    from vramledger.model.files import HUB_PREFIX
    from vramledger.model.load import load_model

    if model.startswith(HUB_PREFIX):
        return None
    with suppress(VramError):
        found = load_model(model).quantization
        return None if found is None else found.method
    return None


def _missing(name: str | None, path: Path | None) -> str:
    return "" if path is None or path.exists() else f"{name} is not there yet"
