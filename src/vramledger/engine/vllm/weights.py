"""Weights that one rank of a pipeline stage holds: what vLLM reports as "Model loading took"."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resident.allocator import allocated
from vramledger.engine.vllm.resident.buffers import loading_buffers
from vramledger.engine.vllm.resident.kernels import allocations
from vramledger.engine.vllm.resident.lora import slot_bytes
from vramledger.engine.vllm.resident.notes import loading_notes
from vramledger.engine.vllm.resident.parameter import Parameter, parameters
from vramledger.engine.vllm.resident.rotary import table_bytes
from vramledger.engine.vllm.resident.split import split_of
from vramledger.engine.vllm.reuse import reused
from vramledger.engine.vllm.stages import stage_layers
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Vendor
from vramledger.model.dtype import DType
from vramledger.model.model import Model
from vramledger.model.quantization import requantize
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.units import GIB, MIB

_LAST_STAGE = frozenset({Role.HEAD, Role.NORM})
_FIRST_STAGE = frozenset({Role.EMBEDDING})
_CACHING_ALLOCATOR = frozenset({Vendor.NVIDIA, Vendor.AMD})
_BATCH_FIELDS = frozenset({"max_num_batched_tokens", "encoder_tokens"})
_CACHE_FIELDS = frozenset(
    {
        "max_model_len", "block_size", "kv_cache_dtype", "kv_cache_skip_layers",
        "enable_prefix_caching", "enable_chunked_prefill", "async_scheduling",
        "disable_hybrid_kv_cache_manager", "mamba_cache_dtype", "mamba_ssm_cache_dtype",
        "mamba_block_size", "kv_connector",
    }
)  # fmt: skip
# What a draft of these methods borrows from the served model (``v1/spec_decode/eagle.py``).
_BORROWED = {
    "eagle": frozenset({Role.EMBEDDING, Role.HEAD}),
    "eagle3": frozenset({Role.EMBEDDING}),
}


@frozen
class RankWeights:
    """Bytes on one tensor-parallel rank of a stage, the largest of its ranks.

    `by_role` counts weights in the kernels' layout, `offloaded` what of them lies in host memory.
    """

    stage: int
    by_role: Mapping[Role, int]
    rotary: int  # position tables
    absorbed: int  # 16-bit copies that latent attention makes of quantised projections
    buffers: int  # work space allocated while the model is built
    rounding: int  # what the allocator rounds up
    lora: int
    draft: int
    offloaded: int
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> int:
        """The served model on this rank, without adapters and draft."""
        return (
            sum(self.by_role.values())
            + self.rotary
            + self.absorbed
            + self.buffers
            + self.rounding
            - self.offloaded
        )

    @property
    def total(self) -> int:
        """Everything that loading allocates on this rank."""
        return self.model + self.lora + self.draft


def rank_weights(deployment: Deployment, stage: int) -> RankWeights:
    """The weights of a rank of that pipeline stage.

    Raises:
        UnknownName: the deployment asks for a way of quantising while loading that is none of ours.
        BadInput: the pipeline partition given in the environment does not add up.
    """
    return _reused(deployment, stage)


def _rank_weights(deployment: Deployment, stage: int) -> RankWeights:
    model = served_model(deployment)
    tensors = tuple(_on_stage(model, deployment, stage))
    split = split_of(deployment)
    found = parameters(tensors, split, deployment.dtype.value)
    sizes = _sizes(found, deployment)
    by_role: dict[Role, int] = {}
    for parameter, parts in zip(found, sizes, strict=True):
        by_role[parameter.role] = by_role.get(parameter.role, 0) + sum(parts)
    absorbed = _absorbed(found, deployment.dtype.value)
    blocks = [part for parts in sizes for part in parts] + absorbed
    rotary = table_bytes(model, deployment)
    buffers = sum(loading_buffers(deployment))
    return RankWeights(
        stage=stage,
        by_role=by_role,
        rotary=rotary,
        absorbed=sum(absorbed),
        buffers=buffers,
        rounding=_rounding(blocks, deployment),
        lora=_lora(found, tensors, deployment),
        draft=_draft(deployment, stage),
        offloaded=_offloaded(tensors, deployment),
        notes=loading_notes(
            model, deployment, rotary=rotary, absorbed=sum(absorbed), buffers=buffers
        ),
    )


def _no_bearing(deployment: Deployment) -> frozenset[str]:
    """Fields that do not change weights: everything about the cache, and for most models batches."""
    return _CACHE_FIELDS if deployment.model.sparse_topk else _CACHE_FIELDS | _BATCH_FIELDS


_reused = reused(_rank_weights, _no_bearing)


def served_model(deployment: Deployment) -> Model:
    """The model as loaded: quantised on the way when the launch asks for it of a plain one."""
    method, model = deployment.quantization.value, deployment.model
    stored = model.quantization is not None or any(t.encoding is not None for t in model.tensors)
    return model if method is None or stored else _quantized_on_the_way(deployment, method)


def _quantized_on_the_way(deployment: Deployment, method: str) -> Model:
    return requantize(_as_built(deployment), method)


def _as_built(deployment: Deployment) -> Model:
    """The model with the roles that vLLM's own class gives its layers."""
    model = deployment.model
    if model.model_type != "jamba" or not deployment.rules.jamba_mlp_as_expert:
        return model
    tensors = (replace(t, role=Role.EXPERT) if t.role is Role.MLP else t for t in model.tensors)
    return replace(model, tensors=tuple(tensors))


def _on_stage(model: Model, deployment: Deployment, stage: int) -> Iterable[Tensor]:
    layers = stage_layers(deployment)[stage]
    first, last = stage == 0, stage == deployment.layout.pp - 1
    for tensor in model.tensors:
        if tensor.layer is not None:
            if tensor.layer in layers:
                yield tensor
        elif tensor.role in _FIRST_STAGE:
            if first or (last and model.tied_embeddings and tensor.shard is Shard.VOCAB):
                yield tensor
        elif tensor.role not in _LAST_STAGE or last:
            yield tensor


def _sizes(found: list[Parameter], deployment: Deployment) -> list[tuple[int, ...]]:
    return [allocations(parameter, deployment) for parameter in found]


def _absorbed(found: list[Parameter], dtype: DType) -> list[int]:
    """16-bit copies of ``kv_b_proj`` for the two products that latent attention absorbs.

    Source: ``layers/attention/mla_attention.py``, process_weights_after_loading.
    """
    return [
        parameter.elements * dtype.nbytes
        for parameter in found
        if parameter.encoding is not None and parameter.name.endswith("kv_b_proj.weight")
    ]


def _rounding(blocks: list[int], deployment: Deployment) -> int:
    if deployment.accelerator.vendor not in _CACHING_ALLOCATOR:
        return 0
    limit = deployment.rules.load_split_mib * MIB
    return allocated(blocks, limit) - sum(blocks)


def _lora(found: list[Parameter], tensors: tuple[Tensor, ...], deployment: Deployment) -> int:
    if deployment.lora is None:
        return 0
    linear = frozenset(
        parameter.name
        for parameter in parameters(
            (tensor for tensor in tensors if tensor.linear),
            split_of(deployment),
            deployment.dtype.value,
        )
    )
    return slot_bytes(found, linear, deployment.lora, deployment)


def _draft(deployment: Deployment, stage: int) -> int:
    """The draft model on its own tensor-parallel ranks; it lives on the last stage."""
    speculation = deployment.speculation
    if speculation is None or stage != deployment.layout.pp - 1:
        return 0
    if speculation.draft is None:
        return _own_draft_layers(deployment) if speculation.method == "mtp" else 0
    borrowed = _BORROWED.get(speculation.method, frozenset()) if deployment.rules.v1 else ()
    own = tuple(tensor for tensor in speculation.draft.tensors if tensor.role not in borrowed)
    alone = replace(
        deployment,
        model=replace(speculation.draft, tensors=own),
        layout=replace(deployment.layout, tp=max(1, speculation.draft_tp), pp=1),
        speculation=None,
        lora=None,
        environment={},
        quantization=replace(deployment.quantization, value=None),
        cpu_offload_gib=replace(deployment.cpu_offload_gib, value=0.0),
    )
    found = rank_weights(alone, 0)
    return found.total - found.buffers


def _own_draft_layers(deployment: Deployment) -> int:
    """MTP layers of the checkpoint; embedding and head are shared with the served model."""
    tensors = [t for t in deployment.model.extra_tensors if t.shard is not Shard.VOCAB]
    found = parameters(tensors, split_of(deployment), deployment.dtype.value)
    blocks = [part for parts in _sizes(found, deployment) for part in parts]
    absorbed = _absorbed(found, deployment.dtype.value)
    return sum(blocks) + sum(absorbed) + _rounding(blocks + absorbed, deployment)


def _offloaded(tensors: tuple[Tensor, ...], deployment: Deployment) -> int:
    """``--cpu-offload-gb`` moves weights of decoder layers until its limit is reached."""
    limit = round(deployment.cpu_offload_gib.value * GIB)
    if limit <= 0:
        return 0
    inside = parameters(
        (t for t in tensors if t.layer is not None), split_of(deployment), deployment.dtype.value
    )
    return min(limit, sum(sum(parts) for parts in _sizes(inside, deployment)))
