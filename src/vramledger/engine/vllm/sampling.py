"""The sampler's memory: the rows it picks tokens for, their logits, and what its kernel needs beside them."""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.rules import SamplerPath
from vramledger.engine.vllm.runner import uses_second_runner
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.units import round_up

VOCAB_MULTIPLE: Final = 64  # the embedding's rows are padded to this before they are split

# Bytes per logit that sampling needs beside the logits themselves.
SAMPLER_BYTES: Final = {
    SamplerPath.SORT: 36,  # float32 logits 4, and 32 of sorted values, indices, their scratch
    SamplerPath.TRITON: 12,  # float32 logits, probabilities, exponential noise
    SamplerPath.FLASHINFER: 12,  # float32 logits, masked logits, probabilities
}


def profiled_rows(deployment: Deployment) -> int:
    """Requests the sampler sees while profiling."""
    rows = min(deployment.max_num_seqs.value, deployment.max_num_batched_tokens.value)
    if deployment.rules.v1 or not deployment.model.towers:
        return rows
    most = max(tower.tokens for tower in deployment.model.towers)
    return max(1, min(rows, deployment.max_num_batched_tokens.value // most)) if most else rows


def sampler_path(deployment: Deployment) -> SamplerPath:
    """The kernel that picks tokens; FlashInfer only on NVIDIA GPUs it supports."""
    path = deployment.rules.sampler
    if path is not SamplerPath.FLASHINFER:
        return path
    accelerator = deployment.accelerator
    capability = accelerator.compute_capability or (0, 0)
    switched_off = deployment.environment.get("VLLM_USE_FLASHINFER_SAMPLER") == "0"
    supported = accelerator.vendor is Vendor.NVIDIA and capability >= (7, 5) and not switched_off
    return SamplerPath.FLASHINFER if supported else SamplerPath.TRITON


@frozen
class SamplingWork:
    """What picking one token for every row needs on the last stage, however many ranks there are."""

    rows: int
    logits_bytes: int  # in the model's own type
    copies_bytes: int  # float32 logits, probabilities, sorted values: by the version's kernel


def sampling_work(deployment: Deployment) -> SamplingWork:
    """The sampler's memory for as many rows as may run, whether or not the version profiles it."""
    rows = profiled_rows(deployment)
    element = deployment.dtype.value.nbytes
    logits = rows * round_up(deployment.model.text.vocab, VOCAB_MULTIPLE) * element
    return SamplingWork(rows, logits, _copies(deployment, rows))


def profiled_copies(deployment: Deployment, rows: int) -> int:
    """Bytes beside the logits while profiling; 0 in versions whose profile run does not sample."""
    return _copies(deployment, rows) if deployment.rules.sampler_profiled else 0


def _copies(deployment: Deployment, rows: int) -> int:
    vocab = deployment.model.text.vocab
    path = sampler_path(deployment)
    if uses_second_runner(deployment):
        return rows * vocab * deployment.rules.runner_v2_logit_bytes
    copies = rows * vocab * SAMPLER_BYTES[path]
    if path is SamplerPath.TRITON and rows >= 8:
        copies += _sampling_programs(deployment.accelerator, rows) * vocab * 4
    return copies


def _sampling_programs(accelerator: Accelerator, rows: int) -> int:
    """Programs of the Triton top-k/top-p kernel, each with a float32 row of scratch."""
    processors = accelerator.multiprocessors or 132
    return min(processors, 1 << (rows - 1).bit_length())
