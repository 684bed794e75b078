"""What takes memory beside weights, activations and cache: inside the budget and outside it."""

from typing import Final

from vramledger.engine.vllm.coefficients import coefficient, seen_on
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.rules import ProfileRule
from vramledger.engine.vllm.runner import tries_graphs, uses_second_runner
from vramledger.evidence import Basis, Figure, total
from vramledger.frozen import frozen
from vramledger.units import GIB, div_ceil

_RESERVED_UNUSED: Final = Figure(
    0.3,
    0.0,
    1.8,
    Basis.ASSUMED,
    "allocator memory reserved but unused, and allocations of the first requests: "
    "0.15 GiB is the engine's own cushion, 1.8 GiB the most seen in public reports",
)
_FAMILIES: Final = {
    ProfileRule.V0_DEVICE: "v0-device",
    ProfileRule.V0_PARTS: "v0-parts",
    ProfileRule.V1_ALL_NON_TORCH: "v1-all",
    ProfileRule.V1_DEVICE_DELTA: "delta",
}
_UNFAMILIAR: Final = 4.0
_MANY_ARCHITECTURES: Final = 3
COMMUNICATORS_INSIDE: Final = frozenset({"v0-parts", "v1-all", "own-early"})


@frozen
class CalibrationKey:
    """Which group of observations a rank belongs to."""

    family: str  # how the version measures
    layout: str  # "one", "tp", "pp-first", "pp-last"

    def __str__(self) -> str:
        return f"{self.family}/{self.layout}"


def calibration_key(deployment: Deployment, stage: int) -> CalibrationKey:
    """The group whose coefficients apply to a rank of that pipeline stage."""
    return CalibrationKey(_family(deployment), _layout(deployment, stage))


def non_torch(deployment: Deployment, stage: int) -> Figure:
    """GiB that the engine counts against the budget but PyTorch did not allocate.

    NCCL and custom all-reduce buffers, cuBLAS handles, loaded kernels, and from 0.18 to 0.26 what
    the graph trial leaves behind. Until 0.9.0 every such byte on the GPU counts, the context included. While
    communicators were made inside the budget, each further rank behind a switch added its buffers.
    """
    key = calibration_key(deployment, stage)
    if key.layout == "tp" and key.family in COMMUNICATORS_INSIDE:
        alone = coefficient("non_torch", f"{key.family}/one").figure("non-torch memory of one rank")
        peers = switched_peers(deployment)
        each = coefficient("communicators", "per_peer").figure("communicator buffers")
        return total((alone, each.scaled(peers)), f"{alone.source}; {peers} peers, {each.source}")
    figure = coefficient("non_torch", str(key)).figure(
        f"non-torch memory of {key}", widen=_unfamiliar(deployment, key)
    )
    if str(key) == "own-trial/tp" and deployment.layout.tp > 2:
        each = coefficient("communicators", "per_peer_trial").figure("buffers of further ranks")
        further = each.scaled(deployment.layout.tp - 2)
        figure = total((figure, further), f"{figure.source}; {further.source}")
    if deployment.rules.profile is not ProfileRule.V1_DEVICE_DELTA:
        return figure
    buffers = Figure.sharp(runner_buffers(deployment) / GIB, Basis.DERIVED, "runner buffers")
    return total((figure, buffers), f"{figure.source}; {buffers.value:.2f} GiB of runner buffers")


def _unfamiliar(deployment: Deployment, key: CalibrationKey) -> float:
    """By how much a band widens on a GPU architecture that the family was not observed on.

    A band that holds on several architectures is taken to hold on one more.
    """
    seen = seen_on(key.family)
    few = 0 < len(seen) < _MANY_ARCHITECTURES
    return _UNFAMILIAR if few and deployment.accelerator.architecture not in seen else 1.0


def switched_peers(deployment: Deployment) -> int:
    """Further ranks of the tensor-parallel group that a rank reaches through a switched fabric.

    Cards joined in pairs by a bridge, or not at all, count none.
    """
    accelerator = deployment.accelerator
    switched = accelerator.fabric_gb_s not in {None, 0.0} and "PCIe" not in accelerator.form
    return deployment.layout.tp - 1 if switched else 0


def context(deployment: Deployment) -> Figure:
    """GiB on the device before the engine's baseline: CUDA context, and communicators since 0.11.

    Zero where the version counts it against the budget.
    """
    if deployment.rules.profile is ProfileRule.V1_ALL_NON_TORCH:
        return Figure.sharp(0.0, Basis.DERIVED, "counted with non-torch memory by this version")
    alone = coefficient("context", "one").figure("CUDA context")
    if deployment.layout.world == 1 or not deployment.rules.nccl_outside_budget:
        return alone
    joined = coefficient("context", "tp").figure("context and communicators")
    if switched_peers(deployment):
        return joined
    middle = (alone.value + joined.value) / 2
    return Figure(middle, alone.low, joined.high, joined.basis, f"{joined.source}; no fabric")


def unprofiled(_deployment: Deployment) -> Figure:
    """GiB that no version profiles: allocator slack and the allocations of first requests."""
    return _RESERVED_UNUSED


def runner_buffers(deployment: Deployment) -> int:
    """Bytes of buffers that the model runner keeps for its batch.

    Block tables of four bytes per block of a full-length request, and in the second runner the
    counts that penalties need: four bytes and one bit per sequence and vocabulary entry.
    """
    rows = deployment.max_num_seqs.value
    length = deployment.max_model_len.value or deployment.model.text.max_positions
    tables = rows * div_ceil(length, deployment.block_size.value or 16) * 4
    inputs = deployment.max_num_batched_tokens.value * 4 * 8
    if not uses_second_runner(deployment):
        return tables + inputs
    vocabulary = deployment.model.text.vocab
    return tables + inputs + rows * vocabulary * 4 + rows * div_ceil(vocabulary, 8)


def _family(deployment: Deployment) -> str:
    rules = deployment.rules
    named = _FAMILIES.get(rules.profile)
    if named is not None:
        return named
    if not rules.nccl_outside_budget:
        return "own-early"
    return "own-trial" if tries_graphs(deployment) else "own"


def _layout(deployment: Deployment, stage: int) -> str:
    layout = deployment.layout
    if layout.tp > 1:
        return "tp"
    if layout.pp == 1:
        return "one"
    return "pp-last" if stage == layout.pp - 1 else "pp-first"
