"""Configurations of every registered kind of model, damaged."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fuzz.driver import Target
from fuzz.mutation import HOSTILE, damaged_bytes, damaged_tree, noise
from vramledger.engine.vllm.loaded import loaded
from vramledger.hardware.catalogue import find
from vramledger.model import catalogue
from vramledger.model.architectures import MODULES
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config, parse_config
from vramledger.model.inspection import inspect
from vramledger.report.model import to_json, to_text

_VARIANTS = Path(__file__).parents[2] / "data" / "architectures"


@cache
def sound() -> Mapping[str, Sequence[dict[str, Any]]]:
    """Sound configurations by ``model_type``, each registered one with at least one.

    Small ones come first where there are any: what takes time is the number of layers.
    """
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in MODULES}
    for path in sorted(_VARIANTS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            add(found, json.loads(line)["config"])
    for model_id in catalogue.ids():
        entry = catalogue.find(model_id)
        if entry is not None:
            add(found, dict(entry.config))
    for kind, configs in found.items():
        if not configs:
            configs.append({**found["llama"][0], "model_type": kind})
    return found


def add(found: Mapping[str, list[dict[str, Any]]], config: dict[str, Any]) -> None:
    """The configuration and the parts of it that are models of their own."""
    for part in (config, *(value for value in config.values() if isinstance(value, dict))):
        kind = str(part.get("model_type"))
        if kind in found:
            found[kind].append(part)


def some_config(random: Random) -> dict[str, Any]:
    """A sound configuration of any kind, mostly a small one."""
    configs = sound()[random.choice(list(MODULES))]
    return configs[0] if random.randrange(3) else random.choice(configs)


@cache
def sections() -> Sequence[Any]:
    """Quantisation sections and other nested parts, to be put where they do not belong."""
    parts = [
        value
        for configs in sound().values()
        for config in configs
        for value in config.values()
        if isinstance(value, dict | list)
    ]
    return (*HOSTILE, *parts[:: max(1, len(parts) // 60)])


def make_config(random: Random) -> dict[str, Any]:
    config = some_config(random)
    if random.randrange(8) == 0:
        config = {**config, "model_type": random.choice(list(MODULES))}
    if random.randrange(8) == 0:
        key = random.choice(["quantization_config", "rope_scaling", "layer_types", "text_config"])
        config = {**config, key: random.choice(sections())}
    damaged = damaged_tree(config, random, sections())
    return damaged if isinstance(damaged, dict) else {}


def read_config_tree(values: dict[str, Any], _folder: Path) -> None:
    model = assemble(Checkpoint("model", Config(values, "config.json")))
    inspection = inspect(model)
    resident = loaded(model, find("H100-80GB-SXM"), None)
    report = to_json(inspection, resident)
    assert report["params_total"] >= 0
    json.dumps(report, allow_nan=False)
    assert to_text(inspection, resident)


def make_text(random: Random) -> bytes:
    if random.randrange(6) == 0:
        return noise(random)
    return damaged_bytes(json.dumps(some_config(random)).encode(), random)


def read_text(content: bytes, folder: Path) -> None:
    path = folder / "config.json"
    path.write_bytes(content)
    assemble(Checkpoint("model", parse_config(path.read_bytes(), "config.json")))


TARGETS = (
    Target("config", 20_000, make_config, read_config_tree),
    Target("config text", 8_000, make_text, read_text),
)
