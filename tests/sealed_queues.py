"""A queue of known rates as a trial with plan and workload, as it is to be sealed, for tests."""

from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from queued_trials import PLAN, queued_trial
from recorded_trials import standing
from stored_workloads import request, stored
from vramledger.bundle.sealing import SealAsked
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.promises import promises
from vramledger.record.document import Plan

_CONTRACT: Final = "{ttft_s: {p50: 1.0, p95: 2.0}, success: 0.98}"
TEXT: Final = PLAN.format(contract=_CONTRACT, rate=9.0)
COUNT: Final = 300

RECORDED: Final = TEXT.replace(
    "workload:\n  input_tokens: {p50: 100, max: 100}\n  output_tokens: {p50: 3, max: 3}\n  requests_per_s: 9.0",
    "workload: {file: FILE}",
)


def asked(folder: Path, text: str = TEXT, contract: str = "daily", **given: Any) -> SealAsked:
    """A queue of 300 requests held to a plan, with the workload that it names or sent."""
    folder.mkdir(parents=True, exist_ok=True)
    load = stored(
        folder / "w.parquet",
        (
            request(row, arrival_s=row / 9, input_tokens=100, output_tokens=3)
            for row in range(COUNT)
        ),
    )
    promised = promises(text)[contract]
    run = queued_trial(
        folder / "run",
        count=COUNT,
        plan=Plan(text=text, sha256=sha256(text.encode()).hexdigest()),
        workload_sha256=sha256(load.read_bytes()).hexdigest(),
        trial=standing().to_json() | {"contract": contract_to_json(promised)},
        **given,
    )
    return SealAsked((run,), folder / "bundle", (load,))
