"""What is believed of each fitted coefficient before a server is seen.

Shares come from kernel tables of vLLM 0.24 (dense and grouped products, attention on H100, H200, B200,
L40S); the rest from single kernels and host profiles. `spread` is of the logarithm: 0.05 is known well.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Prior:
    """A coefficient that the fit may move."""

    name: str
    value: float
    spread: float


PRIORS: Final = (
    Prior("dense_read", 0.85, 0.03),
    Prior("expert_read", 0.80, 0.05),
    Prior("cache_read", 0.75, 0.10),
    Prior("matmul_bf16", 0.72, 0.05),
    Prior("matmul_fp8", 0.65, 0.10),
    Prior("matmul_fp4", 0.45, 0.15),
    Prior("experts_fp8", 0.19, 0.30),
    Prior("experts_fp4", 0.25, 0.30),
    Prior("experts_weight_only", 0.18, 0.30),
    Prior("experts_mxfp4", 0.35, 0.40),
    Prior("experts_mxfp4_fp8", 0.40, 0.30),
    Prior("kernel_us", 3.0, 0.30),
    Prior("eager_kernel_us", 40.0, 0.40),
    Prior("slow_expert_read", 1.8, 0.30),
    Prior("slow_expert_kernels", 8.0, 0.40),
    Prior("weight_only_read", 0.9, 0.15),
    Prior("step_us", 800.0, 0.50),
    Prior("request_us", 8.0, 0.50),
    Prior("synchronous_us", 500.0, 0.30),
    Prior("prefill_step_us", 500.0, 0.70),
    Prior("all_reduce_us", 3.0, 0.30),
    Prior("all_reduce_doubling_us", 2.0, 0.30),
    Prior("link_share", 0.7, 0.20),
    Prior("blackwell_link", 0.8, 0.20),
    Prior("steps_waited", 2.0, 0.30),
    Prior("front_ms", 10.0, 0.50),
    Prior("front_ms_per_1000_tokens", 1.5, 0.50),
    Prior("front_ms_per_request", 0.3, 0.50),
)
