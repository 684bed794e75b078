"""What a host may do otherwise than the shipped model says: terms, each a factor on the time of some work.

A factor of 1 is the shipped model, of 2 a host on which that work takes twice as long. Coefficients that are shares
of a sheet's figure are divided by it, those that are times are multiplied. The `lead` of a term is the coefficient
by which it is told to people. Terms are properties of a machine (its card, its links, its processor, its driver);
what a deployment has (its weights, its cache, its batches) is `work.Work`, which they multiply.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.simulate.timing.arithmetic import Format
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.rates import DENSE_SHARES
from vramledger.simulate.timing.work import Work

BANDWIDTH: Final = "bandwidth"
COMPUTE: Final = "compute"
OVERHEAD: Final = "overhead"
LINK: Final = "link"
CACHE: Final = "cache_read"
ATTENTION: Final = "prompt_attention"
REQUEST: Final = "request"
PREFILL_STEP: Final = "prefill_step"
FRONT: Final = "front"


@frozen
class HostTerm:
    """One term. `shares` are divided by its factor, `times` multiplied.

    `spread` is how far the factor of a host was from 1 before it was seen (one deviation); `apart` how much further
    that of another card may be from one that was seen.
    """

    name: str
    meaning: str
    unit: str
    shares: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    spread: float = 0.4
    apart: float = 0.1


# Spreads: of shares, what the coefficients fitted to left-out groups and kernel tables ranged over; of times of the
# processor, what hosts differ by. Of links over PCIe see `spread_of`.
TERMS: Final = (
    HostTerm(
        BANDWIDTH, "memory bandwidth that reading weights reaches", "share of the sheet's",
        shares=("dense_read", "expert_read"), spread=0.2, apart=0.06,
    ),
    HostTerm(
        COMPUTE, "products of matrices", "share of the sheet's peak",
        shares=(
            "matmul_bf16", "matmul_fp8", "matmul_fp4", "matmul_int8", "matmul_weight_only", "experts_bf16",
            "experts_fp8", "experts_fp4", "experts_weight_only", "experts_mxfp4", "experts_mxfp4_fp8",
        ),
        times=("hidden_passes", "routed_passes"), apart=0.1,
    ),
    HostTerm(
        OVERHEAD, "launches and the host's work of a step", "us a kernel",
        times=("kernel_us", "eager_kernel_us", "compiled_kernel_us", "step_us", "synchronous_us"),
        spread=0.6, apart=0.15,
    ),
    HostTerm(
        LINK, "collectives between GPUs", "share of the link's rate",
        shares=("link_share", "pcie_share"),
        times=("all_reduce_us", "all_reduce_doubling_us", "all_to_all_us", "pcie_us"), spread=0.4, apart=0.3,
    ),
    HostTerm(
        CACHE, "memory bandwidth that reading the KV cache reaches", "share of the sheet's",
        shares=("cache_read", "decode_attention"), apart=0.1,
    ),
    HostTerm(
        ATTENTION, "attention of prompts", "share of the sheet's peak",
        shares=("prompt_attention",), apart=0.1,
    ),
    HostTerm(
        REQUEST, "the host's work for each running request of a step", "us a request",
        times=("request_us",), spread=1.0, apart=0.3,
    ),
    HostTerm(
        PREFILL_STEP, "what a step takes longer for having prompts", "us a step",
        times=("prefill_step_us",), spread=1.0, apart=0.3,
    ),
    HostTerm(
        FRONT, "HTTP and tokeniser before the queue", "ms a request",
        times=("front_ms", "front_ms_per_1000_tokens", "front_ms_per_request"), spread=0.8, apart=0.3,
    ),
)  # fmt: skip
BY_NAME: Final = {term.name: term for term in TERMS}
_PCIE_SPREAD: Final = 0.7  # no tensor parallelism over PCIe was measured


def spread_of(term: HostTerm, work: Work) -> float:
    """The spread of a term's factor on that work's card and links."""
    return _PCIE_SPREAD if term.name == LINK and work.tensor_link.pcie else term.spread


def adjusted(coefficients: Coefficients, factors: Mapping[str, float]) -> Coefficients:
    """The coefficients of a host with those factors; terms that are not named stay."""
    changed: dict[str, float] = {}
    for name, factor in factors.items():
        term = BY_NAME[name]
        changed |= {each: getattr(coefficients, each) / factor for each in term.shares}
        changed |= {each: getattr(coefficients, each) * factor for each in term.times}
    return replace(coefficients, **changed)


def lead_of(term: HostTerm, work: Work) -> str:
    """The coefficient that tells a term to people, for the formats and links of that work."""
    if term.name == COMPUTE:
        return DENSE_SHARES[_dense_format(work)]
    if term.name == LINK:
        return "pcie_share" if work.tensor_link.pcie else "link_share"
    return (*term.shares, *term.times)[0]


def told(term: HostTerm, coefficients: Coefficients, work: Work, factor: float) -> float:
    """The lead coefficient at that factor, in the term's unit; infinite for a share at 0."""
    lead = lead_of(term, work)
    value: float = getattr(coefficients, lead)
    if lead in term.shares:
        return value / factor if factor else float("inf")
    return value * factor


def _dense_format(work: Work) -> Format:
    return max(
        (group for stage in work.stages for group in stage.weights.dense),
        key=lambda group: group.elements,
    ).arithmetic.format
