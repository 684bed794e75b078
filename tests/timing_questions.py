"""Deployments and cases that the tests of step timing ask about."""

from functools import cache
from typing import Any

from vramledger.engine.read import read_launch
from vramledger.engine.vllm.deployment import Deployment
from vramledger.hardware.catalogue import find
from vramledger.ledger.case import Case
from vramledger.model.load import load_model
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.step import Pricer
from vramledger.simulate.timing.work import work_of

LLAMA = "meta-llama/Llama-3.1-8B"


@cache
def deployed(
    flags: str = "", model: str = LLAMA, card: str = "H100-80GB-SXM", version: str = "0.18.0"
) -> Deployment:
    launch = read_launch(f"vllm serve {model} --max-model-len 16384 {flags}", version=version)
    return Case(launch, load_model(model), find(card), version).deployment()


@cache
def pricer(
    flags: str = "", model: str = LLAMA, card: str = "H100-80GB-SXM", version: str = "0.18.0"
) -> Pricer:
    return Pricer(work_of(deployed(flags, model, card, version)), shipped().coefficients)


def case(**changes: Any) -> dict[str, Any]:
    """A case that is answered, with some keys changed."""
    plain = {
        "id": "one",
        "engine": "vllm",
        "engine_version": "0.18.0",
        "model": "meta-llama/Llama-3.1-70B",
        "gpu": "h200_sxm",
        "gpus": 4,
        "precision": "fp8",
        "kv_dtype": None,
        "tp": 4,
        "pp": 1,
        "dp": 1,
        "moe_tp": None,
        "moe_ep": None,
        "input_tokens": 900,
        "output_tokens": 900,
        "concurrency": 16,
        "requests": 160,
    }
    return plain | changes
