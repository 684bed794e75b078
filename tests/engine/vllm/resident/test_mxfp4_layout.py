"""MXFP4 experts by kernel."""

import pytest

from deployments import Settings, deployment_of, gpu
from vramledger.engine.vllm.resident.mxfp4 import Kernel, kernel_for
from vramledger.engine.vllm.weights import rank_weights
from vramledger.model.load import load_model
from vramledger.units import gib


@pytest.mark.parametrize(
    ("capability", "environment", "kernel"),
    [
        ((8, 0), {}, Kernel.MARLIN),
        ((9, 0), {}, Kernel.TRITON),
        ((10, 0), {}, Kernel.FLASHINFER),
        ((12, 0), {}, Kernel.MARLIN),
        ((9, 0), {"VLLM_MXFP4_USE_MARLIN": "1"}, Kernel.MARLIN),
        ((9, 0), {"VLLM_USE_FLASHINFER_MOE_MXFP4_BF16": "1"}, Kernel.FLASHINFER_CUTLASS),
    ],
)
def test_the_accelerator_and_switches_choose_the_kernel(
    capability: tuple[int, int], environment: dict[str, str], kernel: Kernel
) -> None:
    model = load_model("openai/gpt-oss-20b")
    settings = Settings(environment=environment)
    assert kernel_for(deployment_of(model, settings, gpu(80, *capability))) is kernel


@pytest.mark.parametrize(
    ("name", "version", "tp", "capability", "logged"),
    [
        ("openai/gpt-oss-120b", "0.11.0", 1, (9, 0), 64.38),
        ("openai/gpt-oss-120b", "0.14.1", 1, (9, 0), 64.38),
        ("openai/gpt-oss-120b", "0.10.2", 1, (8, 0), 65.9651),
        ("openai/gpt-oss-20b", "0.19.0", 1, (9, 0), 13.64),
        ("openai/gpt-oss-20b", "0.19.0", 2, (9, 0), 7.01),
        ("openai/gpt-oss-20b", "0.19.0", 1, (8, 0), 13.72),
    ],
)
def test_resident_weights_equal_the_logged_ones(
    name: str, version: str, tp: int, capability: tuple[int, int], logged: float
) -> None:
    deployment = deployment_of(
        load_model(name), Settings(version=version, tp=tp), gpu(80, *capability)
    )
    weights = rank_weights(deployment, 0)
    assert gib(weights.total) == pytest.approx(logged, rel=1.2e-3)


def test_later_versions_let_the_first_scales_go() -> None:
    model = load_model("openai/gpt-oss-120b")
    older = rank_weights(deployment_of(model, Settings(version="0.14.1")), 0)
    newer = rank_weights(deployment_of(model, Settings(version="0.26.0")), 0)
    scales = 36 * 128 * 3 * 2880 * 2880 // 32
    assert older.model - older.rounding - (newer.model - newer.rounding) == scales


def test_every_rule_at_work_is_named() -> None:
    deployment = deployment_of(load_model("openai/gpt-oss-20b"), Settings())
    assert rank_weights(deployment, 0).notes == (
        "MXFP4 experts are laid out for the Triton kernel, which pads them.",
        "Rotary position tables take 32 MiB on every rank.",
    )


def test_latent_attention_and_its_work_space_are_named() -> None:
    deployment = deployment_of(load_model("deepseek-ai/DeepSeek-R1"), Settings(tp=8))
    assert rank_weights(deployment, 0).notes == (
        "Rotary position tables take 20 MiB on every rank.",
        "Latent attention keeps 16-bit copies of quantised projections, 244 MiB.",
        "Loading also allocates 128 MiB of work space.",
    )
