"""From an observation to the deployment it measured, through the same door as a launch command."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from accuracy.observations import Observation
from vramledger.engine.launch import Flag, Launch, Usage
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import CannotKnow
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.catalogue import find
from vramledger.hardware.custom import with_total
from vramledger.model.load import load_model
from vramledger.model.model import Model

# Names as people wrote them, where ours is not the same.
_CARDS: Final = {
    "H100": "H100-80GB-SXM",
    "H100 80GB": "H100-80GB-SXM",
    "H100 NVL 94GB": "H100-94GB-NVL",
    "H200": "H200-141GB-SXM",
    "A100": "A100-80GB-SXM",
    "A100 80GB": "A100-80GB-SXM",
    "A100 80GB PCIe": "A100-80GB-PCIe",
    "V100 32GB": "V100-32GB-PCIe",
    "H20": "H20-96GB-SXM",
    "MI300 (191.45 GiB visible)": "MI300X",
    "RX 7900 XTX 24GB": "RX-7900-XTX",
    "RTX 3070 Laptop 8GB": "RTX-3070",
    "RTX PRO 6000": "RTX-PRO-6000-Server",
    "A100 40GB": "A100-40GB-SXM",
}
# A card of which only the memory is known: the usual one that reports it.
_BY_MEMORY: Final = ((79.0, 80.0, "H100-80GB-SXM"), (139.0, 141.0, "H200-141GB-SXM"),
                     (44.0, 45.0, "L40S"), (23.0, 24.0, "RTX-4090"),
                     (15.5, 15.6, "RTX-4080"))  # fmt: skip
_LOADED_AS: Final = frozenset(
    {"fp8", "bitsandbytes", "experts_int8"}
)  # ways of quantising a plain checkpoint


_VARIABLE: Final = re.compile(r"\b(VLLM_[A-Z0-9_]+)=(\S+)")
_MEDIA_LIMITS: Final = re.compile(r"--limit-mm-per-prompt (\{[^}]*\})")


def deployment_for(row: Observation) -> Deployment:
    """The deployment of that log.

    Raises:
        CannotKnow: the log names no card we know.
        UnknownName: the model is not in the catalogue, or a value is none this version takes.
    """
    model = load_model(row.model)
    return resolve(_launch(row, model), model, _accelerator(row), version=row.version)


def _accelerator(row: Observation) -> Accelerator:
    name = _CARDS.get(row.gpu, row.gpu) if row.gpu else _card_of(row.total_gib)
    if name is None:
        raise CannotKnow(f"{row.id} names neither a card nor a memory that one card reports.")
    accelerator = find(name)
    if row.total_gib is None:
        return accelerator
    return with_total(accelerator, row.total_gib, f"{row.id}, the total the log prints")


def _card_of(total: float | None) -> str | None:
    if total is None:
        return None
    return next((name for low, high, name in _BY_MEMORY if low <= total <= high), None)


def _launch(row: Observation, model: Model) -> Launch:
    flags = tuple(Flag(name, value, f"--{name}") for name, value in _flags(row, model))
    return Launch(
        engine="vllm",
        model=row.model,
        flags=flags,
        version=row.version,
        usage=Usage.SERVE,
        environment=_environment(row),
        where=row.id,
    )


def _flags(row: Observation, model: Model) -> Iterator[tuple[str, str | None]]:
    values = {
        "tensor-parallel-size": row.tp if row.tp > 1 else None,
        "pipeline-parallel-size": row.pp if row.pp > 1 else None,
        "gpu-memory-utilization": row.utilization,
        "max-model-len": row.max_model_len,
        "max-num-seqs": row.max_num_seqs,
        "max-num-batched-tokens": row.max_num_batched_tokens,
        "dtype": row.dtype,
        "block-size": row.block_size if "block-size" in row.other_args else None,
        "kv-cache-dtype": row.kv_dtype,
        "quantization": _loaded_as(row, model),
        "cpu-offload-gb": _argument(row, "cpu_offload_gb="),
        "decode-context-parallel-size": _argument(row, "decode-context-parallel-size "),
    }
    for name, value in values.items():
        if value is not None:
            yield name, str(value)
    if row.enforce_eager:
        yield "enforce-eager", None
    if limits := _MEDIA_LIMITS.search(row.other_args):
        yield "limit-mm-per-prompt", limits[1]
    if "'enable_prefix_caching': False" in row.other_args:
        yield "no-enable-prefix-caching", None
    if "--enable-prefix-caching" in row.other_args:
        yield "enable-prefix-caching", None


def _loaded_as(row: Observation, model: Model) -> str | None:
    if row.quantization is None or model.quantization is not None:
        return None
    method = row.quantization.split()[0]
    return method if method in _LOADED_AS else None


def _argument(row: Observation, prefix: str) -> str | None:
    _, found, rest = row.other_args.partition(prefix)
    return rest.split()[0].strip("',}") if found else None


def _environment(row: Observation) -> Mapping[str, str]:
    given = dict(_VARIABLE.findall(row.other_args))
    if row.other_args.startswith("V0"):
        return {**given, "VLLM_USE_V1": "0"}
    if row.other_args.startswith("V1") or row.notes.startswith("V1;"):
        return {**given, "VLLM_USE_V1": "1"}
    return given
