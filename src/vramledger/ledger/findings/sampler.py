"""The sampler's share: rows of logits as wide as the vocabulary, which no layout divides."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.activation import activation_peak
from vramledger.engine.vllm.sampling import sampling_work
from vramledger.ledger.findings.rule import AccountRule, Effect
from vramledger.ledger.startup import Startup
from vramledger.model.model import ModelKind
from vramledger.units import GIB, format_gib


def _not_profiled(start: Startup) -> Effect | None:
    deployment = start.deployment
    if deployment.rules.sampler_profiled or deployment.model.kind is ModelKind.ENCODER:
        return None
    work = sampling_work(deployment)
    size = work.copies_bytes / GIB
    return Effect(
        f"The profile run of this version does not sample: the first full batch of {work.rows} "
        f"requests takes {format_gib(size)} that nothing reserved, on every rank of the last "
        "stage. Lower max_num_seqs or the utilization, or use 0.8.0 or later.",
        gib=-size,
    )


def _not_divided(start: Startup) -> Effect | None:
    deployment = start.deployment
    last = deployment.layout.pp - 1
    if deployment.layout.tp == 1 or not deployment.rules.v1:
        return None
    if activation_peak(deployment, last).governed_by != "sampler":
        return None
    work = sampling_work(deployment)
    copies = work.copies_bytes if deployment.rules.sampler_profiled else 0
    size = (work.logits_bytes + copies) / GIB
    return Effect(
        f"The sampler sets the activation peak: {work.rows} rows of "
        f"{deployment.model.text.vocab} logits take {format_gib(size)} on each of the "
        f"{deployment.layout.tp} ranks, because tensor parallelism does not divide them. Halving "
        "max_num_seqs halves it.",
        gib=-size,
        tokens=start.tokens_in(-size),
    )


RULES: Final = (
    AccountRule("A05", Severity.SILENT, _not_profiled, "vllm/v1/worker/gpu_model_runner.py of 0.7"),
    AccountRule(
        "A06", Severity.SILENT, _not_divided, "vllm/model_executor/layers/logits_processor.py"
    ),
)
