"""The activation peak: what the profile run holds at its highest point, beside the weights.

vLLM runs one dummy batch of ``max_num_batched_tokens`` tokens and, on the last pipeline stage,
samples ``max_num_seqs`` rows from it. Three peaks compete and the highest is reserved: inside the
decoder's forward pass, inside the sampler, and inside a multimodal encoder. The terms follow the
sizes of the tensors alive at each point; the sampler's bytes per logit are named per path.

The logits are gathered to full width, so tensor parallelism does not divide the sampler's share.
"""

from typing import Final

from vramledger.engine.setting import Layout
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.encoder import EncoderWork, encoder_work
from vramledger.engine.vllm.expert_gather import gather_bytes
from vramledger.engine.vllm.experts import expert_workspace
from vramledger.engine.vllm.rules import ExpertBuffers, ProfileRule, SamplerPath
from vramledger.engine.vllm.sampling import (
    SAMPLER_BYTES,
    VOCAB_MULTIPLE,
    profiled_copies,
    profiled_rows,
)
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.model.cache import LatentAttention
from vramledger.model.model import Model, ModelKind
from vramledger.units import MIB, div_ceil, round_up

_LATENT_CONTEXT_TOKENS: Final = 64 * 1024  # most context tokens MLA expands at once


@frozen
class ActivationPeak:
    """The competing peaks of one rank, in bytes, and which one governs."""

    forward_bytes: int
    sampler_bytes: int  # 0 where this rank does not sample while profiling
    encoder_bytes: int  # 0 without a multimodal encoder
    kept_bytes: int  # expert work space and encoder results: part of the first two
    gathered_bytes: int = 0  # experts' part where tokens of data-parallel ranks are gathered
    encoder_kept_bytes: int = 0  # the encoder's part of `kept_bytes`

    @property
    def bytes(self) -> int:
        return max(self.forward_bytes, self.sampler_bytes, self.encoder_bytes)

    @property
    def text_bytes(self) -> int:
        """The peak as it would be without the encoder."""
        return max(self.forward_bytes, self.sampler_bytes) - self.encoder_kept_bytes

    @property
    def governed_by(self) -> str:
        """The phase that sets the peak: ``sampler``, ``forward pass`` or ``encoder``."""
        peaks = {
            "forward pass": self.forward_bytes,
            "sampler": self.sampler_bytes,
            "encoder": self.encoder_bytes,
        }
        return max(peaks, key=peaks.__getitem__)


def activation_peak(deployment: Deployment, stage: int, tp_rank: int = 0) -> ActivationPeak:
    """The peak of the rank at that pipeline stage and tensor-parallel position."""
    encoder = encoder_work(deployment) if stage == 0 else EncoderWork()
    workspace = expert_workspace(deployment)
    matmul = matmul_workspace(deployment.accelerator)
    stays = deployment.rules.expert_buffers is ExpertBuffers.KEPT
    kept = encoder.kept_bytes + (workspace if stays else 0)
    gathered = gather_bytes(deployment)
    transient = gathered + (0 if stays else workspace)
    forward = _forward(deployment, stage, transient) + matmul + kept
    sampler = 0
    if _samples(deployment, stage, tp_rank):
        sampler = _sampler(deployment, matmul, kept)
        if deployment.rules.profile is ProfileRule.V0_DEVICE:
            sampler = forward + _unplaced_pieces(deployment)
    return ActivationPeak(
        forward_bytes=forward,
        sampler_bytes=sampler,
        encoder_bytes=encoder.peak_bytes,
        kept_bytes=kept,
        encoder_kept_bytes=encoder.kept_bytes,
        gathered_bytes=gathered + (workspace if gathered else 0),
    )


def matmul_workspace(accelerator: Accelerator) -> int:
    """The cuBLAS work space PyTorch keeps per stream: larger on data-centre Hopper and Blackwell."""
    if accelerator.vendor is not Vendor.NVIDIA:
        return 0
    major = accelerator.compute_capability[0] if accelerator.compute_capability else 0
    return 32 * MIB if major in {9, 10} else 8 * MIB + 128 * 1024


def _samples(deployment: Deployment, stage: int, tp_rank: int) -> bool:
    last = stage == deployment.layout.pp - 1
    generates = deployment.model.kind is not ModelKind.ENCODER
    driver = deployment.rules.v1 or tp_rank == 0  # V0 gathers the logits on the first rank only
    return last and generates and driver


def _sampler(deployment: Deployment, matmul: int, kept: int) -> int:
    """Bytes alive while sampling: forward output, selected rows, logits and their copies."""
    text, element = deployment.model.text, deployment.dtype.value.nbytes
    tokens, rows = deployment.max_num_batched_tokens.value, profiled_rows(deployment)
    logits = rows * round_up(text.vocab, VOCAB_MULTIPLE) * element
    return (
        tokens * text.hidden * element
        + 2 * rows * text.hidden * element
        + matmul
        + logits
        + profiled_copies(deployment, rows)
        + kept
    )


def _forward(deployment: Deployment, stage: int, expert_bytes: int) -> int:
    """Bytes alive at the decoder's widest point, without work spaces.

    A layer is dense or has experts, so the wider of the two counts; where the allocator's reserve
    counts, both do.
    """
    token = deployment.max_num_batched_tokens.value * deployment.dtype.value.nbytes
    dense = token * _mlp_width(deployment) + _quantized_copy(deployment)
    dense += _dequantized_matrix(deployment)
    reserved = deployment.rules.profile is ProfileRule.V0_DEVICE
    layer = dense + expert_bytes if reserved else max(dense, expert_bytes)
    if not deployment.rules.v1:
        layer = max(layer, token * _attention_width(deployment.model, deployment.layout))
    return token * _residual_width(deployment, stage) + max(layer, _latent_context(deployment))


def _mlp_width(deployment: Deployment) -> int:
    """Elements per token of the MLP's two outputs: gate and up, and their product."""
    text = deployment.model.text
    width = text.intermediate
    if width == 0 and text.experts is not None:
        width = text.experts.shared_intermediate
    return (3 if text.gated_mlp else 2) * div_ceil(width, deployment.layout.tp)


def _quantized_copy(deployment: Deployment) -> int:
    """One byte per element of the MLP's product where activations are 8-bit."""
    scheme = deployment.model.quantization
    if scheme is None or scheme.activation_bits != 8:
        return 0
    width = div_ceil(deployment.model.text.intermediate, deployment.layout.tp)
    return deployment.max_num_batched_tokens.value * width


def _has_flash_attention(accelerator: Accelerator) -> bool:
    return (accelerator.compute_capability or (8, 0)) >= (8, 0)


def _dequantizes_in_forward(deployment: Deployment) -> bool:
    """Whether every pass expands 4-bit weights to 16 bits before it multiplies."""
    scheme = deployment.model.quantization
    loaded_as = deployment.quantization.value
    return loaded_as == "bitsandbytes" or (scheme is not None and scheme.method == "bitsandbytes")


def _dequantized_matrix(deployment: Deployment) -> int:
    """Bytes of the largest matrix that is expanded in the forward pass, 0 where none is."""
    if not _dequantizes_in_forward(deployment):
        return 0
    text = deployment.model.text
    width = div_ceil(text.intermediate, deployment.layout.tp)
    return width * text.hidden * deployment.dtype.value.nbytes


def _unplaced_pieces(deployment: Deployment) -> int:
    """Bytes of the sampler that find no room in blocks the forward pass left reserved.

    Up to 0.5.5 the allocator's reserve counts, which never shrinks. The sampler asks for pieces of
    four bytes per logit; a freed block of the forward pass takes as many as fit into it whole.
    """
    vocab, rows = deployment.model.text.vocab, profiled_rows(deployment)
    piece = rows * vocab * 4
    wanted = div_ceil(SAMPLER_BYTES[SamplerPath.SORT] + deployment.dtype.value.nbytes, 4)
    token = deployment.max_num_batched_tokens.value * deployment.dtype.value.nbytes
    placed = sum(token * width // piece for width in _reserved_widths(deployment))
    return max(0, wanted - placed) * piece


def _reserved_widths(deployment: Deployment) -> list[int]:
    """Elements per token of each block that an eager layer makes the allocator reserve."""
    text, tp = deployment.model.text, deployment.layout.tp
    product = div_ceil(text.intermediate, tp)
    queries = div_ceil(text.heads, tp) * text.head_dim
    keys = max(1, text.kv_heads // tp) * text.head_dim
    first = (2 if text.gated_mlp else 1) * product
    widths = [first, product, queries + 2 * keys, queries, queries]
    widths += [text.hidden] * (4 if tp > 1 else 3)  # one more for the sum over ranks
    if not _has_flash_attention(deployment.accelerator):
        widths += [queries, queries]  # outputs of the head groups, one by one and stacked
    if _dequantizes_in_forward(deployment):
        widths.append(product)  # a projection's result before it is copied into the joint one
    return widths


def _residual_width(deployment: Deployment, stage: int) -> int:
    """Elements per token of the hidden states around the MLP.

    V1 compiles the layers and holds four (a stage that is not the last also returns two); V0 runs
    them one by one and holds three. Up to 0.5.5 every block that a layer ever asked for counts.
    """
    hidden = deployment.model.text.hidden
    if deployment.rules.v1:
        returned = 2 * hidden if stage < deployment.layout.pp - 1 else 0
        return 4 * hidden + returned
    if deployment.rules.profile is ProfileRule.V0_DEVICE:
        return sum(_reserved_widths(deployment)) - _mlp_width(deployment)
    return 3 * hidden


def _attention_width(model: Model, layout: Layout) -> int:
    """Elements per token of the joint projection, a copy of the queries and the output."""
    text = model.text
    queries = div_ceil(text.heads, layout.tp) * text.head_dim
    keys = max(1, text.kv_heads // layout.tp) * text.head_dim
    return 3 * queries + 2 * keys


def _latent_context(deployment: Deployment) -> int:
    """MLA expands cached context while profiling, for the largest chunk it will ever expand."""
    model, rules = deployment.model, deployment.rules
    latent = [c for c in model.cache_layers if isinstance(c.spec, LatentAttention)]
    if not latent or not rules.v1 or any(_sparse(c.spec) for c in latent):
        return 0
    width = next((t.shape[0] for t in model.tensors if t.name.endswith("kv_b_proj.weight")), 0)
    length = deployment.max_model_len.value or model.text.max_positions
    block = deployment.block_size.value or 16
    tokens = min(max(8 * length, 4 * deployment.max_num_seqs.value * block), _LATENT_CONTEXT_TOKENS)
    return tokens * div_ceil(width, deployment.layout.tp) * deployment.dtype.value.nbytes


def _sparse(spec: object) -> bool:
    return isinstance(spec, LatentAttention) and spec.indexer_dim > 0
