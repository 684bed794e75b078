"""Launches resolved for tests: some cards, a plain and a hybrid model."""

from dataclasses import replace

from deployments import full, gpu, model_of
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resolve import resolve
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.model.cache import RecurrentState, StateKind
from vramledger.model.model import Model

PLAIN = model_of(full(32, 8, 128))
STATE = RecurrentState(StateKind.MAMBA2, (), 8)
HYBRID = model_of([*full(4, 8, 128), STATE])


def card(name: str, gib: float, capability: tuple[int, int]) -> Accelerator:
    return replace(gpu(gib), name=name, compute_capability=capability)


H100 = card("H100-80GB-SXM", 79.19, (9, 0))
A100 = card("A100-80GB-SXM", 79.25, (8, 0))
L40S = card("L40S", 44.39, (8, 9))
B200 = card("B200", 178.3, (10, 0))
T4 = card("T4", 14.56, (7, 5))
SPARK = card("GB10", 119.7, (12, 1))
CPU = replace(card("CPU", 24.0, (0, 0)), vendor=Vendor.CPU, compute_capability=None)


def resolved(
    arguments: str = "",
    version: str | None = "0.19.0",
    model: Model = PLAIN,
    accelerator: Accelerator = H100,
) -> Deployment:
    launch = read_launch(f"vllm serve m {arguments}", version=version)
    return resolve(launch, model, accelerator, version=version)
