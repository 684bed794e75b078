"""A small trial with its workload, and a bundle of it, for tests."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from recorded_trials import described, small_trial, standing
from stored_workloads import request, stored
from vramledger.bundle.keys import new_key, read_private
from vramledger.bundle.manifest import People
from vramledger.bundle.sealing import SealAsked, seal
from vramledger.bundle.verifying import Verified
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.document import Plan

PLAN = """\
name: a plan
model: Qwen/Qwen3-8B
workload: {profile: chat, concurrent: 4}
scenarios:
  chat: {kind: latency, contract: {ttft_s: {p50: 0.6}, success: 0.9}}
"""


def four_requests(path: Path) -> Path:
    """The workload of the small trial."""
    return stored(
        path,
        (request(row, arrival_s=float(row), input_tokens=100, output_tokens=3) for row in range(4)),
    )


def contracted(folder: Path, **values: Any) -> SealAsked:
    """A trial with plan and contract in `folder`, as it is to be sealed."""
    folder.mkdir(parents=True, exist_ok=True)
    workload = four_requests(folder / "w.parquet")
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.5: 0.6}),)}, success=0.9)
    about = described(
        workload_sha256=sha256(workload.read_bytes()).hexdigest(),
        scenario="chat",
        plan=Plan(text=PLAN, sha256=sha256(PLAN.encode()).hexdigest()),
        trial=standing().to_json() | {"contract": contract_to_json(contract)},
    )
    run = small_trial(folder / "run", about=about.model_copy(update=values))
    return SealAsked((run,), folder / "bundle.zip", (workload,), People("Ann", "Bob", "Cy"))


def signed(folder: Path) -> Path:
    """An archive, signed by the key in `folder`/key."""
    asked = contracted(folder)
    new_key(folder / "key")
    return seal(replace(asked, key=read_private(folder / "key"))).path


def wrong(found: Verified) -> list[tuple[str, str]]:
    """The checks that fail, and what they say."""
    return [(each.name, each.said) for each in found.checks if each.standing == "fails"]
