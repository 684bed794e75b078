"""How the rows are told apart in tables."""

from collections.abc import Callable
from typing import Final

from timing_fit.evaluate import Point
from vramledger.model.cache import LatentAttention


def model_class(point: Point) -> str:
    """Dense, mixture of experts, or one with latent attention."""
    model = point.prepared.deployment.model
    if model.text.experts is None:
        return "dense"
    latent = any(isinstance(layer.spec, LatentAttention) for layer in model.cache_layers)
    return "experts, latent attention" if latent else "experts"


def group_name(point: Point) -> str:
    """Model and card."""
    return f"{point.row.case['model'].rpartition('/')[2]} {gpu(point)}"


def gpu(point: Point) -> str:
    """The card's name."""
    return point.prepared.work.accelerator.name


def engine(point: Point) -> str:
    """Engine and release family."""
    version = point.row.case["engine_version"]
    known = "not stated" if version is None else ".".join(version.split(".")[:2])
    return f"vLLM {known.partition('-')[0]}"


GROUPINGS: Final[dict[str, Callable[[Point], str]]] = {
    "gpu": gpu,
    "engine": engine,
    "model_class": model_class,
    "group": group_name,
}
