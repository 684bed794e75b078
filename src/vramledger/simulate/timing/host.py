"""A host that was measured: what it is, and what its terms came out as."""

from collections.abc import Mapping
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.frozen import frozen

ENGINE: Final = "vllm"
_AS_MODEL: Final = "auto"


@frozen
class Setting:
    """What a measured deployment was. Figures of another `engine`, `family`, precision or `backend` are no evidence."""

    engine: str
    version: str
    family: str
    weights: str  # how they are stored
    kv_cache: str
    backend: str  # vendor of the card, with the attention backend where the launch names one
    gpu: str
    architecture: str
    bandwidth_gb_s: float
    peak_tflops: float  # of 16-bit products, on the sheet
    model: str
    mixture: bool  # of experts
    tp: int
    dp: int


@frozen
class Term:
    """One term of a host: a factor on what the shipped model has, with the ends of its interval.

    `determined` says whether the run narrowed it, or it is mostly what was believed before.
    """

    factor: float
    low: float
    high: float
    determined: bool


@frozen
class Host:
    """A measured host. `covariance` is of the factors, in the order of `terms`."""

    setting: Setting
    terms: Mapping[str, Term]
    covariance: tuple[tuple[float, ...], ...]
    origin: str  # of the runs: measured, imported, rehearsed or simulated


def setting_of(deployment: Deployment, *, peak: float) -> Setting:
    """The setting of a deployment; `peak` is its card's 16-bit flop/s."""
    card, layout = deployment.accelerator, deployment.layout
    quantization, cache = deployment.quantization.value, deployment.kv_cache_dtype.value
    return Setting(
        engine=ENGINE,
        version=deployment.version,
        family=deployment.rules.family,
        weights=str(quantization) if quantization else str(deployment.dtype.value),
        kv_cache=str(deployment.dtype.value if cache == _AS_MODEL else cache),
        backend=_backend(deployment),
        gpu=card.name,
        architecture=card.architecture,
        bandwidth_gb_s=card.bandwidth_gb_s or 0.0,
        peak_tflops=peak / 1e12,
        model=deployment.model.id,
        mixture=deployment.model.text.experts is not None,
        tp=layout.tp,
        dp=layout.dp,
    )


def _backend(deployment: Deployment) -> str:
    chosen, vendor = deployment.attention_backend.value, str(deployment.accelerator.vendor)
    return vendor if chosen is None else f"{vendor} {chosen}"
