"""What we say of a command line on this host, before the engine is asked."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from vramledger.engine.kv import KvPool
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.engine.vllm.kv.pool import size_pool
from vramledger.engine.vllm.resolve import resolve
from vramledger.hardware.cpu import this_host
from vramledger.model.load import load_model

VERSION = "0.32.0"
COMMON = "--load-format dummy --enforce-eager --dtype bfloat16 --gpu-memory-utilization 0.1"


@dataclass(frozen=True)
class Prediction:
    """What we say of one launch, before the engine is asked."""

    deployment: Deployment
    pool: KvPool


def deployment_of(command: str) -> Deployment:
    """The deployment of a command line on this host."""
    launch = read_launch(command)
    assert launch.model is not None
    return resolve(launch, load_model(launch.model), this_host(), version=VERSION)


def predict(command: str) -> Prediction:
    """The pool of a command line that states its memory.

    Raises:
        BadInput: the engine refuses such a launch.
    """
    deployment = deployment_of(command)
    memory = deployment.kv_cache_memory_bytes.value
    assert memory is not None
    return Prediction(deployment, size_pool(deployment, layout_for(deployment), (memory,)))


def command_of(model: Path, options: str) -> str:
    return f"vllm serve {shlex.quote(str(model))} {COMMON} {options}"


def words(command: str) -> list[str]:
    """What follows ``vllm serve``."""
    return shlex.split(command)[2:]
